"""What happened to clients that may explain why they get nothing. APIs write it down; the core never reads
it."""

from collections.abc import Container, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .fetch_sessions import FetchContext

KEPT: Final = 100
"""How many of each kind are kept: the newest ones."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

ClientPartition = tuple[str | None, str, int]
"""Client id, topic, partition."""


@dataclass(frozen=True, slots=True)
class Unserved:
    """A request that the release does not serve; its connection was closed. `api` is a key."""

    client_id: str | None
    api: int
    version: int


class Refused(NamedTuple):
    """What an authorizer refused; `operation` and `resource_type` are those of ACLs."""

    principal: str
    operation: int
    resource_type: int
    name: str


class Notes:
    """By what each note is about, oldest first; a new note replaces an older one about the same thing."""

    def __init__(self) -> None:
        self.not_created: dict[str, str] = {}
        """Why a topic that a client asked for, or asked to create, was not created."""
        self.unserved: dict[Unserved, None] = {}
        self.without_offset: dict[tuple[str, str, int], str | None] = {}
        """By group, topic and partition: the client that was told that no offset is committed."""
        self.ends: dict[ClientPartition, int] = {}
        """The log end that ListOffsets told a client; -1 if it has asked for something else too."""
        self.out_of_range: dict[ClientPartition, int] = {}
        """The offset of the last Fetch that was answered OFFSET_OUT_OF_RANGE."""
        self.waits: dict[str | None, FetchContext] = {}
        """The last Fetch of a client that had to wait."""
        self.unacknowledged: dict[ClientPartition, tuple[Partition, Container[Partition]]] = {}
        """The last Produce of a client that waits for followers: its partition, and all that it waits for."""
        self.coordinated: dict[str, tuple[str | None, int]] = {}
        """Groups whose coordinator a client has asked for: which client was the last, and when."""
        self.unread: dict[tuple[str | None, str], str] = {}
        """Regular expressions that were refused though they may be valid, by client: why."""
        self.shut_out: dict[tuple[str | None, str], str] = {}
        """Clients that have not got in since they failed to, by listener: why."""
        self.refused: dict[Refused, str | None] = {}
        """What a principal may not do, and has not been allowed since: the last client that was told."""

    def topic_not_created(self, topic: str, why: str, *, tried: bool = True) -> None:
        """The reason why an attempt failed replaces the fact that nobody `tried`."""
        if tried or topic not in self.not_created:
            _note(self.not_created, topic, why)

    def not_served(self, client_id: str | None, api: int, version: int) -> None:
        _note(self.unserved, Unserved(client_id, api, version), None)

    def came_in(self, client_id: str | None, listener: str, failure: str) -> None:
        """A client proved who it is, or failed to."""
        if failure:
            _note(self.shut_out, (client_id, listener), failure)
        else:
            self.shut_out.pop((client_id, listener), None)

    def not_allowed(self, client_id: str | None, refused: "Refused") -> None:
        _note(self.refused, refused, client_id)

    def no_offset(self, client_id: str | None, group: str, topic: str, partition: int) -> None:
        _note(self.without_offset, (group, topic, partition), client_id)

    def looked_up(self, client_id: str | None, topic: str, partition: int, end: int | None) -> None:
        """ListOffsets told the log end, or something else (None)."""
        key = (client_id, topic, partition)
        _note(self.ends, key, -1 if end is None or self.ends.get(key) == -1 else end)

    def beyond(self, client_id: str | None, topic: str, partition: int, offset: int) -> None:
        _note(self.out_of_range, (client_id, topic, partition), offset)

    def fetch_waits(self, client_id: str | None, context: "FetchContext") -> None:
        _note(self.waits, client_id, context)

    def produce_waits(
        self, client_id: str | None, partition: "Partition", left: "Container[Partition]"
    ) -> None:
        _note(self.unacknowledged, (client_id, partition.topic.name, partition.index), (partition, left))

    def produce_waited(
        self, client_id: str | None, partition: "Partition", left: "Container[Partition]"
    ) -> None:
        """It waits no longer for this partition."""
        key = client_id, partition.topic.name, partition.index
        if self.unacknowledged.get(key, (None, None))[1] is left:
            del self.unacknowledged[key]

    def coordinator_sought(self, client_id: str | None, group: str, now_ms: int) -> None:
        _note(self.coordinated, group, (client_id, now_ms))

    def unread_pattern(self, client_id: str | None, pattern: str, why: str) -> None:
        _note(self.unread, (client_id, pattern), why)


def _note(notes: dict[K, V], key: K, value: V) -> None:
    if key not in notes and len(notes) >= KEPT:
        del notes[next(iter(notes))]
    notes[key] = value
