"""Who takes part in the stories of the offsets topic: members and producers; and commits without either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mockbroker.rig import requests
from mockbroker.rig.client import Pending

from .stage import OffsetsTopicStage

SUBSCRIPTION: Final = b"\0\0\0\0\0\0\xff\xff\xff\xff"


class StoryMember:
    """A member with a connection and a client id of its own."""

    def __init__(
        self, stage: OffsetsTopicStage, group: str, client: str = "a", instance: str | None = None
    ) -> None:
        self.stage, self.group, self.by, self.instance = stage, group, client, instance
        self.id, self.generation = "", -1

    def send_join(self, *, version: int | None = None, **more: Any) -> Pending:
        fields = {
            "group_id": self.group,
            "session_timeout": 30_000,
            "rebalance_timeout": 60_000,
            "member_id": self.id,
            "group_instance_id": self.instance,
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
            **more,
        }
        return self.stage.send("join_group", fields, version=version, by=self.by)

    def joined(self, pending: Pending) -> Any:
        answer = self.stage.client(by=self.by).receive(pending)
        self.id = answer["member_id"] or self.id
        if answer["error_code"] == "NONE":
            self.generation = answer["generation_id"]
        return self.stage.shown(answer)

    def join(self, **more: Any) -> Any:
        """Joins, the second time with the member id that it was given (KIP-394)."""
        answer = self.joined(self.send_join(**more))
        return self.joined(self.send_join(**more)) if answer["error_code"] == "MEMBER_ID_REQUIRED" else answer

    def send_sync(self, **assignments: bytes) -> Pending:
        """Assignments by member id."""
        fields = {
            **self.who(),
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [{"member_id": k, "assignment": v} for k, v in assignments.items()],
        }
        return self.stage.send("sync_group", fields, by=self.by)

    def receive(self, pending: Pending) -> Any:
        return self.stage.shown(self.stage.client(by=self.by).receive(pending))

    def sync(self, **assignments: bytes) -> Any:
        return self.receive(self.send_sync(**assignments))

    def who(self) -> dict[str, Any]:
        return {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.id,
            "group_instance_id": self.instance,
        }

    def leave(self) -> Any:
        one = {"member_id": self.id, "group_instance_id": self.instance, "reason": None}
        fields = {"group_id": self.group, "member_id": self.id, "members": [one]}
        return self.stage.shown(self.stage.ask("leave_group", fields, by=self.by))

    def commit(self, *offsets: Mapping[str, Any], version: int | None = None, **more: Any) -> Any:
        return commit(self.stage, self.group, *offsets, version=version, **{**self.who(), **more})


def offset(
    partition: int, at: int, *, topic: str = "orders", metadata: str | None = "", epoch: int = -1
) -> dict[str, Any]:
    return {
        "topic": topic,
        "partition_index": partition,
        "committed_offset": at,
        "committed_leader_epoch": epoch,
        "committed_metadata": metadata,
    }


def by_topic(offsets: tuple[Mapping[str, Any], ...]) -> list[dict[str, Any]]:
    topics: dict[str, list[dict[str, Any]]] = {}
    for each in offsets:
        part = {key: value for key, value in each.items() if key != "topic"}
        topics.setdefault(each["topic"], []).append(part)
    return [{"name": name, "partitions": parts} for name, parts in topics.items()]


def commit(
    stage: OffsetsTopicStage, group: str, *offsets: Mapping[str, Any], version: int | None = None, **more: Any
) -> Any:
    """The error code of each partition. The newest version is the last one with names of topics."""
    newest = stage.newest("offset_commit", 9)
    fields = {
        "group_id": group,
        "generation_id_or_member_epoch": more.pop("generation_id", -1),
        "member_id": "",
        "group_instance_id": None,
        "retention_time": -1,
        "topics": by_topic(offsets),
        **more,
    }
    answer = stage.ask("offset_commit", fields, version=newest if version is None else version)
    return sorted(
        [each["name"], part["partition_index"], part["error_code"]]
        for each in answer["topics"]
        for part in each["partitions"]
    )


def create(stage: OffsetsTopicStage, *names: str, partitions: int = 3) -> None:
    made = (requests.new_topic(name, partitions) for name in names)
    answer = stage.ask("create_topics", requests.create_topics(*made))
    assert all(each["error_code"] in ("NONE", "TOPIC_ALREADY_EXISTS") for each in answer["topics"]), answer

    def known() -> bool:
        found = stage.ask("metadata", requests.metadata(*names))["topics"]
        return all(each["error_code"] == "NONE" and len(each["partitions"]) == partitions for each in found)

    stage.brokers.until(known, "topics")


class StoryProducer:
    """A transactional producer of a fixed id."""

    def __init__(self, stage: OffsetsTopicStage, name: str) -> None:
        self.stage, self.name = stage, name
        self.id = self.epoch = -1
        stage.brokers.until(self._start, "a producer id")

    def _start(self) -> bool:
        fields = {"key": self.name, "key_type": 1, "coordinator_keys": [self.name]}
        self.stage.ask("find_coordinator", fields)
        fields = {
            "transactional_id": self.name,
            "transaction_timeout": 60_000,
            "producer_id": -1,
            "producer_epoch": -1,
        }
        answer = self.stage.ask("init_producer_id", fields)
        self.id, self.epoch = answer["producer_id"], answer["producer_epoch"]
        return bool(answer["error_code"] == "NONE")

    def _ask(self, api: str, fields: Mapping[str, Any]) -> Any:
        """As clients did before KIP-890's second part."""
        who = {"transactional_id": self.name, "producer_id": self.id, "producer_epoch": self.epoch}
        return self.stage.ask(api, {**who, **fields}, version=self.stage.newest(api, 3))

    def commit(self, group: str, *offsets: Mapping[str, Any], **more: Any) -> Any:
        answer = self._ask("add_offsets_to_txn", {"group_id": group})
        assert answer["error_code"] == "NONE", answer
        member = {"generation_id": -1, "member_id": "", "group_instance_id": None, **more}
        fields = {**member, "group_id": group, "topics": by_topic(offsets)}
        answer = self._ask("txn_offset_commit", fields)
        return [
            [each["name"], part["partition_index"], part["error_code"]]
            for each in answer["topics"]
            for part in each["partitions"]
        ]

    def end(self, committed: bool) -> Any:
        found: list[Any] = []

        def done() -> bool:
            found.append(self._ask("end_txn", {"committed": committed})["error_code"])
            return bool(found[-1] != "CONCURRENT_TRANSACTIONS")

        self.stage.brokers.until(done, "the end of a transaction")
        return found[-1]
