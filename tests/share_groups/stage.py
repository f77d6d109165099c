"""Where a story is told: topics and share groups of its own, and members that fetch and acknowledge."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mockbroker.protocol.primitives import short_uuid
from mockbroker.rig import batches
from mockbroker.rig.client import Fields
from mockbroker.rig.scene import CLOSED, NO_ANSWER

from ..driving.group_stage import UNKNOWN_ID, GroupStage

SHARE_VERSION: Final = "share.version"
ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
GAP: Final = 0
DEAD: Final = "dlq."
"""How the names of dead letter topics begin by default."""
_WAIT_MS: Final = 10_000
"""Within which a fetch that should get records gets them, so that how long it takes is not seen."""
_NOTHING_MS: Final = 300
_TIMEOUT_MS: Final = 20_000
_SOON_S: Final = 3


class Ack(NamedTuple):
    """Of one batch: a type for all its records, or one for each."""

    first: int
    last: int
    types: Sequence[int]


class ShareStage(GroupStage):
    """Members of share groups."""

    def enable(self) -> None:
        """4.1 has share groups, but not from the start."""
        if self._finalized() == 0:
            update = {"feature": SHARE_VERSION, "max_version_level": 1, "upgrade_type": 1}
            asked = {"timeout": _TIMEOUT_MS, "feature_updates": [update], "validate_only": False}
            answer = self.ask("update_features", asked)
            assert answer["error_code"] == "NONE", answer
            self.brokers.until(lambda: self._finalized() > 0, SHARE_VERSION)

    def _finalized(self) -> int:
        asked = {"client_software_name": "c", "client_software_version": "1"}
        found = self.ask("api_versions", asked, version=4)["finalized_features"]
        return sum(each["max_version_level"] for each in found if each["name"] == SHARE_VERSION)

    def coordinates(self) -> bool:
        """Topics of coordinators are made for the first who looks for them."""
        share = f"{self.named('g')}:{short_uuid(UNKNOWN_ID)}:0"
        for kind, key in ((0, "g"), (1, "t"), (2, share)):
            asked = {"key_type": kind, "coordinator_keys": [key]}
            (found,) = self.ask("find_coordinator", asked, version=6)["coordinators"]
            if found["error_code"] != "NONE":
                return False
        asked = {"group_ids": [self.named("nobody's")]}
        (found,) = self.ask("share_group_describe", asked)["groups"]
        return bool(found["error_code"] == "GROUP_ID_NOT_FOUND")

    def fill(self, *counts: int, name: str = "t", partition: int = 0, size: int = 1) -> None:
        """Appends one batch of each number of records."""
        for count in counts:
            self.produce(batches.batch(batches.records(count, size=size)), name, partition)

    def produce(
        self, data: bytes, name: str = "t", partition: int = 0, transactional_id: str | None = None
    ) -> None:
        topic = {
            "name": self.named(name),
            "topic_id": self.topic_id(name),
            "partition_data": [{"index": partition, "records": data}],
        }
        asked = {"transactional_id": transactional_id, "acks": -1, "timeout": _TIMEOUT_MS}
        answer = self.ask("produce", {**asked, "topic_data": [topic]}, version=11)
        (result,) = answer["responses"][0]["partition_responses"]
        assert result["error_code"] == "NONE", result

    def count(self, name: str = "t") -> int:
        """How many records are in partition 0, in all its segments."""
        found, offset = 0, 0
        while True:
            part = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1_000_000}
            topics = [{"topic": self.named(name), "partitions": [part]}]
            asked = {"max_wait": 0, "max_bytes": 1_000_000, "session_epoch": -1, "topics": topics}
            (answer,) = self.ask("fetch", asked, version=11)["responses"][0]["partitions"]
            here = batches.describe(answer["records"]) or []
            if not here:
                return found
            found += sum(each["count"] for each in here)
            offset = here[-1]["last_offset"] + 1

    def named(self, name: str) -> str:
        """Names of dead letter topics keep their prefix in front."""
        prefix, rest = (DEAD, name[len(DEAD) :]) if name.startswith(DEAD) else ("", name)
        return f"{prefix}{super().named(rest)}" if prefix else super().named(name)

    # -- asking

    def member(self, letter: str = "A", group: str = "g") -> "ShareMember":
        return ShareMember(self, letter, group)

    def reader(self, letter: str = "A", group: str = "g", *topics: str, **configs: str) -> "ShareMember":
        """A member that was assigned the partitions of its topics, in a group that begins with the earliest
        records unless `configs` say otherwise."""
        self.configure(group, **{"share_auto_offset_reset": "earliest", **configs})
        found = self.member(letter, group)
        found.join(*(topics or ("t",)))
        return found

    def hastily(self, api: str, fields: Fields) -> Any:
        """The answer if it comes soon, at a connection of its own."""
        self.client(by="hasty").set_timeout(_SOON_S)
        try:
            return self.say(api, fields, by="hasty")
        except TimeoutError:
            self.client(by="hasty").close()
            return NO_ANSWER

    def described(self, *groups: str) -> Any:
        """By ShareGroupDescribe."""
        asked = {"group_ids": [self.named(each) for each in groups or ("g",)]}
        return self.say("share_group_describe", asked)["groups"]

    def state(self, group: str = "g", name: str = "t", partition: int = 0) -> Any:
        """What the share coordinator has: the start offset, and [first, last, delivery state, delivery count]
        of batches."""
        part = {"partition": partition, "leader_epoch": 0}
        topics = [{"topic_id": self.topic_id(name), "partitions": [part]}]
        asked = {"group_id": self.named(group), "topics": topics}
        (found,) = self.ask("read_share_group_state", asked)["results"][0]["partitions"]
        if found["error_code"] != "NONE":
            return found["error_code"], found["error_message"]
        return found["start_offset"], [list(each.values()) for each in found["state_batches"]]

    def available(self, group: str = "g") -> int:
        """How many records are available again by what the share coordinator has, which hears of the ends of
        locks and sessions later than members do."""
        found: Any = self.state(group)
        return sum(last - first + 1 for first, last, state, _ in found[1] if state == 0)

    def offsets(self, group: str = "g", *names: str, partitions: Sequence[int] = (0,)) -> Any:
        """By DescribeShareGroupOffsets; of all topics if none is named."""
        topics = [{"topic_name": self.named(each), "partitions": list(partitions)} for each in names]
        asked = {"groups": [{"group_id": self.named(group), "topics": topics or None}]}
        return self.say("describe_share_group_offsets", asked)["groups"]


class ShareMember:
    """A member of a share group, and its share session. It has a connection of its own: one connection has
    one share session."""

    def __init__(self, s: ShareStage, letter: str, group: str) -> None:
        self.s, self.group = s, group
        self.id = f"member{letter}AAAAAAAAAAAAAAA"
        self.by = f"{s.name} {group} {letter}"
        self.epoch, self.session = 0, 0

    def beat(self, epoch: int | None = None, *topics: str | None, **fields: Any) -> Any:
        """One ShareGroupHeartbeat; without `topics` the subscription stays as it is."""
        names = [each if each is None else self.s.named(each) for each in topics]
        asked = {
            "group_id": self.s.named(self.group),
            "member_id": self.id,
            "member_epoch": self.epoch if epoch is None else epoch,
            "subscribed_topic_names": names or None,
            **fields,
        }
        answer = self.s.say("share_group_heartbeat", asked, by=self.by)
        if answer is not CLOSED and answer["error_code"] == "NONE":
            self.epoch = answer["member_epoch"]
        return answer

    def join(self, *topics: str) -> Any:
        """Heartbeats until it is assigned something: that answer."""
        answer = self.beat(0, *topics)

        def assigned() -> bool:
            nonlocal answer
            if not (answer["assignment"] or {}).get("topic_partitions"):
                answer = self.beat()
            return bool((answer["assignment"] or {}).get("topic_partitions"))

        self.s.brokers.until(assigned, f"the assignment of {self.by}")
        return answer

    def leave(self) -> Any:
        return self.beat(-1)

    def fetch(
        self,
        *partitions: int,
        acks: Mapping[int, Iterable[Ack]] | None = None,
        name: str = "t",
        epoch: int | None = None,
        version: int | None = None,
        **fields: Any,
    ) -> Any:
        """One ShareFetch, with the next epoch of its session."""
        found = {each: list(acks.get(each, ())) if acks else [] for each in partitions or (0,)}
        topics = [{"topic_id": self.s.topic_id(name), "partitions": of_partitions(found)}]
        return self.fetch_all(topics, epoch, version, **fields)

    def fetch_all(
        self, topics: Any, epoch: int | None = None, version: int | None = None, **fields: Any
    ) -> Any:
        return self._answered("share_fetch", {**self._asked(topics, epoch), **fields}, version)

    def _asked(self, topics: Any, epoch: int | None) -> dict[str, Any]:
        return {
            "group_id": self.s.named(self.group),
            "member_id": self.id,
            "share_session_epoch": self._next(epoch),
            "max_wait": _WAIT_MS,
            "min_bytes": 1,
            "max_bytes": 1_000_000,
            "max_records": 500,
            "batch_size": 500,
            "topics": topics,
            "forgotten_topics_data": [],
        }

    def begin_to_fetch(self) -> None:
        """Sends a ShareFetch that waits for records of partition 0, and reads no answer."""
        topics = [{"topic_id": self.s.topic_id(), "partitions": of_partitions({0: []})}]
        asked = self._asked(topics, None)
        self.s.client(by=self.by).send("share_fetch", self.s.newest("share_fetch"), asked)

    def fetch_some(self, epoch: int | None = None) -> Any:
        """The first fetch that gets something, in a new session if `epoch` is 0. In 4.1 one that
        waits while another session ends may get nothing."""
        answer = self.fetch(epoch=epoch)

        def got() -> bool:
            nonlocal answer
            if not acquired(answer):
                answer = self.look()
            return bool(acquired(answer))

        self.s.brokers.until(got, f"records for {self.by}")
        return answer

    def look(self, *partitions: int, **fields: Any) -> Any:
        """A fetch that need not get anything."""
        return self.fetch(*partitions, **{"max_wait": _NOTHING_MS, **fields})

    def acknowledge(
        self,
        *acks: Ack,
        partition: int = 0,
        name: str = "t",
        epoch: int | None = None,
        version: int | None = None,
        **fields: Any,
    ) -> Any:
        """One ShareAcknowledge of batches of one partition, with the next epoch of its session."""
        topics = [{"topic_id": self.s.topic_id(name), "partitions": of_partitions({partition: list(acks)})}]
        return self.acknowledge_all(topics, epoch, version, **fields)

    def acknowledge_all(
        self, topics: Any, epoch: int | None = None, version: int | None = None, **fields: Any
    ) -> Any:
        asked = {
            "group_id": self.s.named(self.group),
            "member_id": self.id,
            "share_session_epoch": self._next(epoch),
            "topics": topics,
            **fields,
        }
        return self._answered("share_acknowledge", asked, version)

    def _next(self, epoch: int | None) -> int:
        return self.session if epoch is None else epoch

    def _answered(self, api: str, asked: Mapping[str, Any], version: int | None) -> Any:
        answer = self.s.say(api, asked, version, self.by)
        if answer is not CLOSED and answer["error_code"] == "NONE":
            self.session = asked["share_session_epoch"] + 1
        return answer


def of_partitions(acks: Mapping[int, list[Ack]]) -> list[dict[str, Any]]:
    """What a request says of them."""
    return [
        {
            "partition_index": partition,
            "acknowledgement_batches": [
                {"first_offset": first, "last_offset": last, "acknowledge_types": list(types)}
                for first, last, types in each
            ],
        }
        for partition, each in acks.items()
    ]


def acquired(answer: Any) -> Any:
    """Of a ShareFetch of one partition: what was acquired, as [first, last, delivery count]; or its error."""
    if answer is CLOSED or answer["error_code"] != "NONE":
        return answer
    if not answer["responses"]:
        return []
    (part,) = [part for topic in answer["responses"] for part in topic["partitions"]]
    found = [list(each.values()) for each in part["acquired_records"]]
    if part["error_code"] != "NONE" or part["acknowledge_error_code"] != "NONE":
        names = ("error_code", "error_message", "acknowledge_error_code", "acknowledge_error_message")
        return found, {each: part[each] for each in names}
    return found


def outcome(answer: Any) -> Any:
    """Of a ShareAcknowledge of one partition: its error and message, None if the answer has no partition; or
    the answer, if that is an error."""
    if answer is CLOSED or answer["error_code"] != "NONE":
        return answer
    (part,) = [part for topic in answer["responses"] for part in topic["partitions"]] or (None,)
    return part and (part["error_code"], part["error_message"])
