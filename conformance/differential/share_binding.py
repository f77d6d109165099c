"""What members of share groups were told and hold while a sequence is played to one broker."""

import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from .acknowledging import Range, batches

_LAST_EPOCH: Final = 2**31 - 1
_RENEW: Final = 4
_ENDS: Final = -1
SESSION_APIS: Final = frozenset({"share_fetch", "share_acknowledge"})
_ORDINARY: Final = frozenset({"NONE", "INVALID_RECORD_STATE", "INVALID_REQUEST"})


class SharePlace(NamedTuple):
    """A share partition."""

    group: str
    topic_id: uuid.UUID
    partition: int


class Held(NamedTuple):
    """By whom a record was acquired last, for which time, and how long the lock lasts."""

    member: int
    deliveries: int
    lock_ms: int


class ShareBindings:
    """`rank` is that of the broker that is asked now: a member has a session with each."""

    def __init__(self) -> None:
        self.rank = 0
        self.epochs: dict[int, int] = {}
        self.sessions: dict[tuple[int, int], int] = {}
        self.read: dict[tuple[int, int], set[SharePlace]] = {}
        """The partitions of each session."""
        self.acquired: dict[tuple[int, uuid.UUID, int], list[Range]] = {}
        self.held: dict[SharePlace, dict[int, Held]] = {}
        self.doubtful = False
        """Whether a leader may have forgotten a share partition."""

    @property
    def several(self) -> bool:
        """Whether more than one member has joined."""
        return len(self.epochs) > 1

    def epoch(self, member: int, plus: int) -> int:
        return self.epochs.get(member, 0) + plus

    def session(self, member: int, plus: int) -> int:
        return self.sessions.get((member, self.rank), 0) + plus

    def acknowledgements(
        self, member: int, topic_id: uuid.UUID, index: int, shape: str, types: list[int]
    ) -> list[dict[str, Any]]:
        return batches(shape, self.acquired.get((member, topic_id, index), ()), types)

    def learn(self, api: str, member: int, fields: dict[str, Any], answer: dict[str, Any]) -> None:
        """Of an answer to a request of these fields."""
        if answer.get("error_code") != "NONE":
            return
        if api == "share_group_heartbeat":
            self.epochs[member] = answer["member_epoch"]
            return
        self._learn_session(api, member, fields)
        self._acknowledged(fields, answer)
        group, lock_ms = fields["group_id"], answer.get("acquisition_lock_timeout", 0)
        for topic in answer["responses"]:
            for part in topic["partitions"]:
                codes = {part["error_code"], part.get("acknowledge_error_code", "NONE")}
                self.doubtful |= not codes <= _ORDINARY
                ranges = part.get("acquired_records")
                if not ranges:
                    continue
                place = SharePlace(group, topic["topic_id"], part["partition_index"])
                found = [(each["first_offset"], each["last_offset"]) for each in ranges]
                self.acquired[member, place.topic_id, place.partition] = found
                held = self.held.setdefault(place, {})
                for each in ranges:
                    one = Held(member, each["delivery_count"], lock_ms)
                    held |= dict.fromkeys(range(each["first_offset"], each["last_offset"] + 1), one)

    def _learn_session(self, api: str, member: int, fields: dict[str, Any]) -> None:
        key, epoch = (member, self.rank), fields["share_session_epoch"]
        if epoch == _ENDS:
            return
        self.sessions[key] = 1 if epoch == _LAST_EPOCH else epoch + 1
        if api == "share_fetch":
            if epoch == 0:
                self.read[key] = set()
            read = self.read.setdefault(key, set())
            read |= set(named(fields))
            read -= set(named({**fields, "topics": fields["forgotten_topics_data"]}))

    def _acknowledged(self, fields: dict[str, Any], answer: dict[str, Any]) -> None:
        failed = {
            (topic["topic_id"], part["partition_index"])
            for topic in answer["responses"]
            for part in topic["partitions"]
            if part.get("acknowledge_error_code", part["error_code"]) != "NONE"
        }
        for topic in fields["topics"]:
            for part in topic["partitions"]:
                key = topic["topic_id"], part["partition_index"]
                held = self.held.get(SharePlace(fields["group_id"], *key), {})
                for each in part["acknowledgement_batches"] if key not in failed else ():
                    for offset in [o for o in held if each["first_offset"] <= o <= each["last_offset"]]:
                        types = each["acknowledge_types"]
                        kind = types[0] if len(types) == 1 else types[offset - each["first_offset"]]
                        if kind != _RENEW:
                            del held[offset]

    def ended(self, member: int) -> Iterator[tuple[SharePlace, dict[int, Held]]]:
        """What a member held of the partitions of its session, which ends."""
        key = member, self.rank
        self.sessions.pop(key, None)
        for place in self.read.pop(key, set()):
            held = {o: each for o, each in self.held.get(place, {}).items() if each.member == member}
            if held:
                yield place, held
            for offset in held:
                del self.held[place][offset]

    def locked_shortly(self, limit_ms: int) -> Iterator[tuple[SharePlace, dict[int, Held]]]:
        """What is held by locks that end that soon."""
        for place, known in self.held.items():
            held = {offset: each for offset, each in known.items() if each.lock_ms <= limit_ms}
            if held:
                yield place, held
            for offset in held:
                del known[offset]


def named(fields: dict[str, Any]) -> Iterator[SharePlace]:
    """The share partitions that a request names."""
    for topic in fields["topics"]:
        for part in topic["partitions"]:
            index = part if isinstance(part, int) else part["partition_index"]
            if topic["topic_id"] is not None:
                yield SharePlace(fields["group_id"], topic["topic_id"], index)
