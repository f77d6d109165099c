"""The table into which everything is read, from whatever file: one row for each thing that was seen.

Times are Unix milliseconds; offsets, epochs and error names are Kafka's; what a file does not say is None.
"""

from dataclasses import dataclass, fields
from typing import Any, Final

KINDS: Final[dict[str, str]] = {
    "commit": "a group's committed offset for a partition: offset, leader_epoch",
    "restore": "a client took up a committed offset: offset, leader_epoch",
    "position": "a client's position, or what it fetches from: offset, leader_epoch, current_epoch",
    "reset": "a client gave up its position: offset is the new one, from_offset the old, detail the strategy",
    "epoch-answer": "OffsetForLeaderEpoch: leader_epoch asked for, end_offset answered (-1: undefined)",
    "refused": "an error code in an answer: error, api",
    "append": "a batch in a log: offset is its first, end_offset one after its last, leader_epoch, producer",
    "fetched": "records handed to a client: offset is the first, end_offset the one after the last",
    "leader": "a partition's leader and leader_epoch; detail `unclean` when it was",
    "in-sync-replicas": "the replicas in sync: replicas",
    "high-watermark": "offset is the high watermark, from_offset the last stable offset, end_offset the log "
    "end offset",
    "log-start": "offset is the log start offset",
    "expiry": "a replica deleted a segment by retention: offset is its first, detail "
    "`after R ms: written until W, timestamps until T`",
    "truncation": "a replica's log was cut back: from_offset to offset",
    "follower-failure": "a follower's fetcher stopped: detail the reason, offset what it could not take",
    "unanswered": "a follower's fetch that its leader did not answer: leader, detail the reason",
    "group": "a group's generation: detail the state",
    "member": "a member of a group: detail `ID joined`, `ID left: why`, of Kafka 4's `ID fenced: why`; `?` "
    "if its id is not told",
    "paused": "a partition that was paused when it was taken from its client",
    "config": "a setting of a topic, or of the producer `client`: detail `NAME = VALUE`; of brokers "
    "`broker 2: NAME = VALUE`, `all brokers: …`; of a group all of them, `NAME = VALUE, NAME = VALUE`, or "
    "`none`",
    "quota": "a quota: detail `ENTITY: NAME = VALUE`, `none` when it was removed",
    "acl": "an ACL of a group, a topic or a transactional id: detail `created: WHO allow READ from HOST`, or "
    "`removed: …`",
    "reassignment": "a partition moves: replicas are all that it has meanwhile; detail "
    "`adding 4, removing 1`, `completed`",
    "load": "a coordinator read its partition of an internal topic: detail `began`, `finished in N ms`, "
    "`failed: why`",
    "cleaner": "the log cleaner stopped, altogether or for a partition: detail the reason",
    "log": "a replica's log, or a topic, was created or deleted: detail `created`, `deleted`; or "
    "`compacted`, by the records from from_offset to end_offset",
    "share-partition": "what a share group has of a partition: offset is its start offset, detail what is in "
    "flight, `5-9 acquired 2 MEMBER UNTIL, 10-11 available 1`; broker is the share coordinator",
    "acquired": "records that a member of a share group was given: offset, end_offset, detail `delivery 2, "
    "asked 40 ms before`",
    "acknowledging": "what a member of a share group asked for records: offset, end_offset, detail `accept`, "
    "`release`, `reject`, `gap`, `renew`",
    "acknowledged": "what it was answered: error, detail `accept, asked 40 ms before`",
    "share-session": "a member and its share session: detail `MEMBER ended`, or `MEMBER was given nothing`, "
    "every ten seconds",
    "share-offset": "a share group was told where to begin: offset, detail `asked`, `done`, `refused`, or "
    "`unanswered` if the answer does not say so",
    "share-state": "what a share coordinator wrote of a share group and a partition: offset is the start "
    "offset if it says so, generation the state epoch, end_offset the end of what is done, detail the states "
    "of records, `0-3 acknowledged 1, 4-4 archived 5`; those that changed, or, after `whole`, all; or "
    "`deleted`",
    "share-warning": "a leader's words about a record that a share group is given for the last time: offset",
    "topic-id": "a topic's id: detail",
    "transaction": "a transactional id's state: detail, `initialized` when a producer began with it, "
    "`timed out` when its coordinator aborted",
    "tombstone": "a key was deleted from an internal topic",
    "broker": "a broker's life: detail `registered`, `fenced`, `unfenced`, `started`, …",
    "controller": "a broker could not reach the controller: detail",
    "complaint": "an error that a client or a broker told, as no other row does: error, detail its words",
    "unreadable": "what could not be read: detail the reason",
}
"""What a row can say, and in which columns."""


@dataclass(slots=True)
class Observation:
    """`source` is the kind of file; `position` is a line in `file`, from 1, or the offset of a byte."""

    kind: str
    source: str
    file: str
    position: int
    time_ms: int | None = None
    broker: int | None = None
    client: str | None = None
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    from_offset: int | None = None
    end_offset: int | None = None
    leader_epoch: int | None = None
    current_epoch: int | None = None
    leader: int | None = None
    replicas: list[int] | None = None
    generation: int | None = None
    transactional_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    sequence: int | None = None
    api: str | None = None
    error: str | None = None
    detail: str | None = None
    text: str | None = None
    """The original text, for people: cut to 400 characters."""


NAMES: Final = tuple(each.name for each in fields(Observation))
_INT32: Final = (
    *("broker", "partition", "leader_epoch", "current_epoch", "leader", "generation", "producer_epoch"),
)


def arrow_schema() -> Any:
    """The table's columns for Arrow, in the order of `Observation`'s fields."""
    import pyarrow as pa

    def kind(name: str, told: str) -> Any:
        if "list" in told:
            return pa.list_(pa.int32())
        return pa.string() if "str" in told else pa.int32() if name in _INT32 else pa.int64()

    return pa.schema([pa.field(each.name, kind(each.name, str(each.type))) for each in fields(Observation)])
