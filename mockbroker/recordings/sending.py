"""Sends what the clients of a recording sent to another cluster, and compares the answers.

Each request is sent when all answers that were recorded before it have come.
"""

import contextlib
import struct
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..protocol import schema
from ..protocol.headers import MalformedRequestError
from ..rig.client import encode, flexible, plain
from ..trace.plain import errors
from .comparing import ABSENT, Comparer, Difference
from .exchanges import Exchange, brokers, steps
from .file import Recording, RecordingError
from .matching import silent
from .messages import (
    UNREADABLE,
    Asked,
    entities,
    read_answer,
    read_request,
    with_correlation_id,
    write_request,
)
from .target import Address, Link, Target
from .translating import OLD, Ids

_LOGINS: Final = frozenset({"sasl_handshake", "sasl_authenticate"})
_BY_LEADER: Final = frozenset(
    {"produce", "fetch", "list_offsets", "offset_for_leader_epoch", "delete_records", "share_fetch"}
)
_PASSING: Final = frozenset(
    {
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "CONCURRENT_TRANSACTIONS",
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "UNKNOWN_TOPIC_ID",
    }
)
"""Errors on which a client asks again."""
_WITH_NAME: Final = frozenset({"produce", "offset_commit", "offset_fetch", "metadata"})
"""Where the field with a topic's name is called so."""
_EPOCHS: Final = frozenset({"FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"})
_FIRST_STEPS: Final = frozenset({"MEMBER_ID_REQUIRED"})
"""Errors that only ask for more."""
_PASSED: Final = "got an error that passes, such as NOT_COORDINATOR, only when they were recorded"
_AGAIN_S: Final = 10.0
_PATIENCE_S: Final = 20.0
"""How much longer than recorded an answer may take."""
_SIZE: Final = struct.Struct(">i")
_SHOWN: Final = 5
"""So many differences of one answer are told."""
Tell = Callable[[str], None]


@dataclass(slots=True)
class _Sent:
    """A request on its way: the version in which it was sent, and how to send it again."""

    version: int
    frame: bytes
    asked: Asked
    scope: Hashable
    place: tuple[int, Address]


class Sender:
    """Plays a recording to a cluster, and tells what differs."""

    def __init__(self, recording: Recording, target: Target, tell: Tell) -> None:
        self._steps = list(steps(recording))
        if not self._steps:
            raise RecordingError("the recording has no request that could be sent")
        self._target, self._tell = target, tell
        self._exchanges = [one for kind, one in self._steps if kind == "request"]
        self._nodes = {address: node for node, address in brokers(self._exchanges).items()}
        self._ids = Ids()
        self._sockets: dict[tuple[int, Address], Link] = {}
        self._sent: dict[int, _Sent] = {}
        self._last: dict[tuple[int, str], Address] = {}
        self._now_s = time.time()
        self._recorded_s = 0.0
        self._comparer = Comparer(lambda: self._recorded_s, time.time)
        self._told: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self._correlation = 0

    def play(self) -> bool:
        """Whether anything differs."""
        try:
            self._prepare()
            for kind, one in self._steps:
                if kind == "request":
                    self._request(one)
                else:
                    self._answer(one)
        finally:
            for each in self._sockets.values():
                each.close()
        self._sum_up()
        return bool(self.counts["different"] or self.counts["unanswered"] or self.counts["unsent"])

    def _prepare(self) -> None:
        """Creates the topics that were there when the recording began."""
        topics: dict[str, list[list[int]]] = {}
        seen: set[str] = set()
        for one in self._exchanges:
            if one.api not in ("metadata", "create_topics") or one.answer is None:
                continue
            with contextlib.suppress(*UNREADABLE):
                for each in plain(read_answer(one.api, one.version, one.answer))["topics"]:
                    fresh = one.api == "metadata" and each["error_code"] == "NONE" and each["partitions"]
                    if fresh and each["name"] not in seen and not each.get("is_internal"):
                        ordered = sorted(each["partitions"], key=lambda entry: int(entry["partition_index"]))
                        topics[each["name"]] = [entry["replica_nodes"] for entry in ordered]
                    seen.add(each["name"])
        missing = {name: replicas for name, replicas in topics.items() if name not in self._target.ids}
        if not missing:
            return
        for name, error in self._target.create(missing).items():
            self._tell(f"{name} is created with {len(missing[name])} partitions, as it was there: {error}")

    def _request(self, one: Exchange) -> None:
        if one.api is None or one.api in _LOGINS:
            self.counts["left out"] += 1
            return
        asked = read_request(one.request)
        scope = _scope(one, asked)
        body = self._body(one, scope, asked)
        try:
            frame, version = self._frame(asked, body)
        except (*UNREADABLE, KeyError, TypeError) as error:
            self.counts["unsent"] += 1
            self._difference(one, f"is not sent: {error}")
            return
        place = (one.connection, self._place(one, body))
        sent = self._sent[one.number] = _Sent(version, frame, asked, scope, place)
        self._send(one, sent)

    def _body(self, one: Exchange, scope: Hashable, asked: Asked) -> Any:
        return self._ids.request(scope, asked.body, epochs=bool(_EPOCHS & set(_errors_of(one))))

    def _send(self, one: Exchange, sent: _Sent) -> None:
        self._correlation += 1
        sent.frame = with_correlation_id(sent.frame, self._correlation, 4)
        try:
            if sent.place not in self._sockets:
                self._sockets[sent.place] = Link(sent.place[1])
            self._sockets[sent.place].send(sent.frame)
        except OSError as error:
            self._lose(one, sent, error)

    def _lose(self, one: Exchange, sent: _Sent, error: OSError) -> None:
        self._sent.pop(one.number, None)
        if (lost := self._sockets.pop(sent.place, None)) is not None:
            lost.close()
        self.counts["unanswered"] += 1
        why = "there is no answer" if isinstance(error, TimeoutError) else str(error)
        self._difference(one, f"{_answered(one)} was recorded, {why}")

    def _frame(self, asked: Asked, body: Any) -> tuple[bytes, int]:
        """The frame, in the newest version that the cluster has, up to the recorded one."""
        if asked.api not in self._target.versions:
            raise ValueError(f"the cluster does not have {schema.class_name(asked.api)}")
        lowest, highest = self._target.versions[asked.api]
        if asked.version < lowest:
            raise ValueError(f"the cluster has versions {lowest} to {highest} only")
        if asked.version <= highest:
            return write_request(asked, body), asked.version
        self.counts["in an older version"] += 1
        client = (asked.client_id or "").encode()
        head = struct.pack(">hhih", schema_key(body), highest, 0, len(client)) + client
        fields = self._with_names(plain(body), asked.api)
        return head + b"\0" * flexible(asked.api, highest) + encode(asked.api, highest, fields), highest

    def _with_names(self, value: Any, api: str) -> Any:
        """Older versions name topics where newer ones have ids."""
        if isinstance(value, list):
            return [self._with_names(each, api) for each in value]
        if not isinstance(value, dict):
            return value
        found = {name: self._with_names(inner, api) for name, inner in value.items()}
        if "topic_id" in found and not found.get("name") and not found.get("topic"):
            name = self._target.name(found["topic_id"])
            found["name" if api in _WITH_NAME else "topic"] = name
        return found

    def _place(self, one: Exchange, body: Any) -> Address:
        """The broker that a client would ask."""
        assert one.api is not None
        found: Address | None = None
        if one.api in _BY_LEADER:
            found = self._leader(body) or self._last.get((one.connection, one.api))
        elif one.api in ("init_producer_id", "add_partitions_to_txn", "add_offsets_to_txn", "end_txn"):
            found = self._of(body, "transactional_id", self._target.transaction)
        elif one.api not in ("find_coordinator", "describe_groups", "delete_groups"):
            found = self._of(body, "group_id", self._target.group)
        if found is None:
            found = self._target.broker(self._nodes.get(one.broker))
        self._last[(one.connection, one.api)] = found
        return found

    def _of(self, body: Any, field: str, where: Callable[[str], Address | None]) -> Address | None:
        for entity in entities(body):
            if name := getattr(entity, field, None) or getattr(entity, OLD + field, None):
                return where(name)
        return None

    def _leader(self, body: Any) -> Address | None:
        topic: Any = None
        for entity in entities(body):
            topic = (
                getattr(entity, "topic_id", None)
                or getattr(entity, "topic", None)
                or getattr(entity, "name", None)
                or topic
            )
            for field in ("index", "partition_index", "partition"):
                partition = getattr(entity, field, None)
                if topic and isinstance(partition, int):
                    return self._target.leader(topic, partition)
        return None

    def _answer(self, one: Exchange) -> None:
        sent = self._sent.get(one.number)
        if sent is None or one.api is None or one.answer is None or silent(sent.asked):
            return
        try:
            recorded = plain(read_answer(one.api, one.version, one.answer))
        except UNREADABLE:
            self.counts["left out"] += 1
            return
        given = self._given(one, sent, set(errors(recorded)))
        if given is None:
            return
        self._ids.learn(sent.scope, recorded, given)
        if set(errors(recorded)) & _PASSING and not any(set(errors(given)) - _FIRST_STEPS):
            self.counts[_PASSED] += 1
            return
        self._recorded_s = (one.answered_us or one.at_us) / 1e6
        parts = self._comparer.differences(one.api, recorded, given)
        if sent.version != one.version:
            parts = [each for each in parts if ABSENT not in each[1:]]
        if not parts:
            self.counts["alike"] += 1
            return
        self.counts["different"] += 1
        self._difference(one, _told(parts))

    def _given(self, one: Exchange, sent: _Sent, expected: set[str]) -> Any:
        """The answer; asked again for as long as it has an error that passes and was not recorded."""
        assert one.api is not None
        until = time.monotonic() + _AGAIN_S
        while True:
            try:
                waits = one.took_s + _PATIENCE_S
                frame = self._sockets[sent.place].answer(self._correlation_of(sent), waits)
                given = plain(read_answer(one.api, sent.version, frame))
            except KeyError:
                # The connection was lost with an earlier request.
                self._lose(one, sent, ConnectionResetError("the connection was closed before"))
                return None
            except OSError as error:
                self._lose(one, sent, error)
                return None
            except (*UNREADABLE, MalformedRequestError) as error:
                self.counts["unanswered"] += 1
                self._difference(one, f"the answer can't be read: {error}")
                return None
            if not (set(errors(given)) & _PASSING - expected) or time.monotonic() > until:
                return given
            self.counts["asked again"] += 1
            time.sleep(0.1)
            self._target.refresh()
            body = self._body(one, sent.scope, sent.asked)
            # Topics may have names by now.
            sent.frame, sent.version = self._frame(sent.asked, body)
            sent.place = (one.connection, self._place(one, body))
            self._send(one, sent)

    @staticmethod
    def _correlation_of(sent: _Sent) -> int:
        return int(_SIZE.unpack_from(sent.frame, 4)[0])

    def _difference(self, one: Exchange, what: str) -> None:
        name = "?" if one.api is None else schema.class_name(one.api)
        self._told[f"{name} {what}"] += 1
        if self._told[f"{name} {what}"] == 1:
            self._tell(f"request {one.number}, {name} v{one.version} to {one.broker}: {what}")

    def _sum_up(self) -> None:
        for what, count in self._told.items():
            if count > 1:
                self._tell(f"{count} times: {what}")
        counts = self.counts
        self._tell(
            f"{counts['alike']} answers are as recorded, {counts['different']} differ, "
            f"{counts['unanswered']} did not come, {counts['unsent']} requests could not be sent"
        )
        for what in ("in an older version", "asked again", "left out", _PASSED):
            if counts[what]:
                self._tell(f"  {counts[what]} requests {what}")
        if self._comparer.left_out:
            self._tell(
                f"  not compared: {', '.join(sorted(self._comparer.left_out))}; ids, hosts, ports, times"
            )


def _scope(one: Exchange, asked: Asked) -> Hashable:
    """What a generation or a session belongs to."""
    return getattr(asked.body, "group_id", None) or one.connection


def schema_key(body: Any) -> int:
    """Kafka's key of the API of this request."""
    return int(type(body).__api_key__)


def _told(parts: list[Difference]) -> str:
    every = [f"{path}: {left!r} was recorded, {right!r} came" for path, left, right in parts[:_SHOWN]]
    return "; ".join(every) + (f"; and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else "")


def _errors_of(one: Exchange) -> list[str]:
    """Those of the recorded answer."""
    if one.api is None or one.answer is None:
        return []
    try:
        return list(errors(plain(read_answer(one.api, one.version, one.answer))))
    except UNREADABLE:
        return []


def _answered(one: Exchange) -> str:
    return "no answer" if one.answer is None else "an answer"


def send(recording: Recording, to: Sequence[Address], tell: Tell) -> bool:
    """Whether anything differs; `to` are brokers of one cluster. TargetError, RecordingError."""
    target = Target(to)
    try:
        return Sender(recording, target, tell).play()
    finally:
        target.close()
