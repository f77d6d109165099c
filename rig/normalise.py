"""Answers in which everything is replaced that may differ from one cluster or run to the next."""

import re
import time
import uuid
from collections.abc import Callable
from typing import Any, Final

from ..protocol.primitives import short_uuid
from . import batches

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT_ID = re.compile(r"[\w-]{22}", re.ASCII)
"""A uuid as Kafka writes it in base 64, which only topics and the members of some groups have for an id."""
_BROKER_TEXT = re.compile(r"\b(broker )(\d+)\b")
_NEAR_MS: Final = 15 * 60 * 1000
_BROKER_FIELDS: Final = frozenset(
    {"node_id", "broker_id", "leader_id", "controller_id", "preferred_read_replica"}
)
_BROKER_LIST_FIELDS: Final = frozenset(
    {
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
        "eligible_leader_replicas",
        "last_known_elr",
    }
)
_TIME_FIELDS: Final = frozenset(
    {
        "timestamp",
        "log_append_time",
        "base_timestamp",
        "max_timestamp",
        "last_timestamp",
        "transaction_start_time",
    }
)
IDENTITY: Final = (
    "group_id",
    "name",
    "topic",
    "topic_name",
    "topic_id",
    "partition_index",
    "partition",
    "index",
    "resource_type",
    "resource_name",
    "key",
    "member_id",
    "transactional_id",
    "api_key",
    "node_id",
    "broker_id",
)
"""Fields that say what an item of a list is about; such lists are sorted by them."""


class Normaliser:
    """Replaces names, ids, addresses and the present time; one is made for each question asked.

    Topic, group and client names carry a random suffix, which goes; ids become numbers in order of
    appearance (`<member:0>`, `<session:0>`, `<producer:0>`); broker ids become `<broker:I>`, by rank.
    """

    def __init__(
        self,
        suffix: str,
        cluster_id: str | None,
        brokers: dict[int, int],
        ports: dict[int, int],
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._now_s = now_s
        self._suffix = suffix
        self._cluster_id = cluster_id
        self._brokers = brokers
        self._ports = ports
        self._members: dict[str, int] = {}
        self._sessions: dict[int, int] = {}
        self._producers: dict[int, int] = {}
        self._topic_ids: dict[uuid.UUID, str] = {}

    def name_topic_id(self, topic_id: uuid.UUID, name: str) -> None:
        """Show `topic_id` as the id of `name` from here on."""
        self._topic_ids[topic_id] = name

    def name_member(self, member_id: str) -> None:
        """Show the unique part of `member_id` as the next number from here on."""
        self._text(member_id)
        if _SHORT_ID.fullmatch(member_id):
            self._members.setdefault(member_id, len(self._members))

    def name_producer(self, producer_id: int) -> None:
        """Show `producer_id` as the next number from here on."""
        self._producers.setdefault(producer_id, len(self._producers))

    def answer(self, value: Any, api: str = "") -> Any:
        """`value` normalised; Fetch answers keep the order of their lists."""
        return self._any(value, "", api != "fetch")

    def _any(self, value: Any, field: str, ordered: bool) -> Any:
        if isinstance(value, dict):
            return {key: self._any(each, key, ordered) for key, each in value.items()}
        if isinstance(value, list | tuple):
            items = [self._any(each, self._item_field(field), ordered) for each in value]
            return sorted(items, key=_sort_key) if ordered and _sortable(items) else items
        if isinstance(value, bytes):
            if field == "records":
                return self._any(batches.describe(value), "batches", ordered)
            return self._unsuffixed(value.decode("latin-1"))
        if isinstance(value, uuid.UUID):
            return f"<topic-id:{self._topic_ids[value]}>" if value in self._topic_ids else "<topic-id>"
        if isinstance(value, str):
            return self._host(field) or self._text(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, field)
        return value

    @staticmethod
    def _item_field(field: str) -> str:
        return "node_id" if field in _BROKER_LIST_FIELDS else ""

    @staticmethod
    def _host(field: str) -> str | None:
        return {"host": "<host>", "client_host": "/<host>"}.get(field)

    def _text(self, value: str) -> str:
        if self._cluster_id:
            value = value.replace(self._cluster_id, "<cluster-id>")
        for topic_id, name in self._topic_ids.items():
            short = short_uuid(topic_id)
            value = value.replace(short, f"<topic-id:{name}>").replace(str(topic_id), f"<topic-id:{name}>")
        value = _UUID.sub(self._member, value)
        value = _SHORT_ID.sub(self._known_member, value)
        value = _BROKER_TEXT.sub(self._broker, value)
        return self._unsuffixed(value)

    def _unsuffixed(self, value: str) -> str:
        return value.replace(f"-{self._suffix}", "").replace(self._suffix, "")

    def _member(self, match: re.Match[str]) -> str:
        return f"<member:{self._members.setdefault(match[0], len(self._members))}>"

    def _known_member(self, match: re.Match[str]) -> str:
        return self._member(match) if match[0] in self._members else match[0]

    def _broker(self, match: re.Match[str]) -> str:
        rank = self._brokers.get(int(match[2]))
        return match[0] if rank is None else f"{match[1]}<broker:{rank}>"

    def _number(self, value: int, field: str) -> int | str:
        if field in _BROKER_FIELDS and value in self._brokers:
            if field == "controller_id" and len(self._brokers) > 1:
                return "<broker>"
            return f"<broker:{self._brokers[value]}>"
        if field == "port" and value in self._ports:
            return f"<port:{self._ports[value]}>"
        if field == "session_id" and value != 0:
            return f"<session:{self._sessions.setdefault(value, len(self._sessions))}>"
        if field == "producer_id" and value in self._producers:
            return f"<producer:{self._producers[value]}>"
        if field in _TIME_FIELDS and abs(value - self._now_s() * 1000) < _NEAR_MS:
            return "<now>"
        return value


def _sortable(items: list[Any]) -> bool:
    return bool(items) and all(
        isinstance(each, dict) and "last_offset" not in each and any(name in each for name in IDENTITY)
        for each in items
    )


def _sort_key(item: dict[str, Any]) -> list[tuple[int, str]]:
    values = [item[name] for name in IDENTITY if name in item]
    return [(each, "") if isinstance(each, int) else (0, str(each)) for each in values]
