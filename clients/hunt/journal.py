"""What a client told its user, in the order in which it did."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..drivers import Refusal
from ..drivers.documentation import Act

Partition = tuple[str, int]
Headers = tuple[tuple[str, bytes | None], ...]
E = TypeVar("E", bound="Entry")


def mark(key: bytes | None, value: bytes | None) -> bytes:
    """What tells a record from all others: its value, or its key if it has none."""
    return (value if value is not None else key) or b""


@dataclass(slots=True, kw_only=True)
class Entry:
    """`user` is the application, or `cluster`; `at` numbers the entries of a run; `ms` is since its start."""

    user: str = "cluster"
    handle: str = ""
    at: int = -1
    ms: int = 0


@dataclass(slots=True, kw_only=True)
class Sent(Entry):
    """A record was given to `send`. Its number is unique in a run, and its value begins with it, or its key
    if it has no value.

    `transaction` numbers the transactions of a run; it is None outside of them. The partition is that of the
    log once it is known, where the client chose it (-1 until then). `meanwhile`: while a call of the same
    client was under way that may have been right to forbid it.
    """

    number: int
    topic: str
    partition: int
    value: bytes | None
    what: str
    key: bytes | None = None
    headers: Headers = ()
    transaction: int | None = None
    told: "Told | None" = None
    meanwhile: bool = False

    @property
    def mark(self) -> bytes:
        """What no other record has."""
        return mark(self.key, self.value)


@dataclass(slots=True, kw_only=True)
class Told(Entry):
    """What became of a record: it was acknowledged with an offset, or there is an error."""

    number: int
    offset: int | None
    error: Refusal | None


@dataclass(slots=True, kw_only=True)
class Called(Entry):
    """A call that returned `answer`, or raised. `began` is the number of the last entry before it; `left` is
    how many records a flush says that it has left. `meanwhile`: another call of the same client was under
    way, which may have been right to forbid it."""

    verb: str
    began: int
    error: Refusal | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    took_ms: int = 0
    left: int = 0
    answer: Mapping[str, Any] = field(default_factory=dict)
    meanwhile: bool = False


@dataclass(slots=True, kw_only=True)
class Heeded(Entry):
    """What the application does after an error of a call, or about a record (`produce`); `says` is why, in
    the words of the client's documentation."""

    verb: str
    error: Refusal
    act: Act
    says: str


@dataclass(slots=True, kw_only=True)
class Ended(Entry):
    """A transaction was to be committed or aborted, and its call returned; an error if it raised."""

    transaction: int
    commits: bool
    error: Refusal | None
    offsets: Mapping[Partition, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Opened(Entry):
    """A producer or a consumer was made. `config` has what its driver takes."""

    config: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Owns(Entry):
    """A member was given partitions (`gains`), or they were taken from it."""

    gains: bool
    partitions: tuple[Partition, ...]


@dataclass(slots=True, kw_only=True)
class Read(Entry):
    """A record that `poll` returned. `headers` are None if the driver tells none."""

    topic: str
    partition: int
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Headers | None = None

    @property
    def mark(self) -> bytes:
        """What no other record has."""
        return mark(self.key, self.value)


@dataclass(slots=True, kw_only=True)
class Failed(Entry):
    """An error that `poll` raised or returned, or that the client told by a callback."""

    error: Refusal
    by: str


@dataclass(slots=True, kw_only=True)
class Sought(Entry):
    """The application moved its own position. `to` is where, if it was not sent there by its transaction or
    by a record that it can't read: to the `beginning`, to the `end`, which is not before `offset`, to this
    `offset`, or to that of a `timestamp`."""

    topic: str
    partition: int
    offset: int
    to: str = ""


@dataclass(slots=True, kw_only=True)
class Committed(Entry):
    """Offsets were to be committed. `began` is the number of the last entry before the call. `by_position`:
    the client was not told which, but to commit where it is. `meanwhile`: another call of the same client
    was under way, which may have been right to forbid it."""

    group: str
    offsets: Mapping[Partition, int]
    began: int
    error: Refusal | None
    took_ms: int = 0
    by_position: bool = False
    meanwhile: bool = False


@dataclass(slots=True, kw_only=True)
class Delivered(Entry):
    """A record that `poll` returned to a member of a share group; `count` is how often it was delivered, as
    the client says."""

    topic: str
    partition: int
    offset: int
    value: bytes | None
    count: int | None


@dataclass(slots=True, kw_only=True)
class Said(Entry):
    """What a member of a share group said of a record: `accept`, `release`, `reject` or `renew`."""

    topic: str
    partition: int
    offset: int
    what: str
    error: Refusal | None = None


@dataclass(slots=True, kw_only=True)
class Acknowledged(Entry):
    """A member of a share group is told that acknowledgements are committed, or are not: `by` the `commit`
    that returned, or by a `callback`."""

    by: str
    topic: str
    partition: int
    offsets: tuple[int, ...]
    error: Refusal | None


@dataclass(slots=True, kw_only=True)
class Granted(Entry):
    """A broker answered the `user` that it has acquired records, from the first to the last offset."""

    topic: str
    partition: int
    first: int
    last: int
    count: int


@dataclass(slots=True, kw_only=True)
class Settled(Entry):
    """A broker answered an acknowledgement of records of the `user`, from the first to the last offset:
    `types` has Kafka's numbers, one for all of them or one for each; `error` is Kafka's name, `lost` if there
    was no answer, and empty if there was no error."""

    api: str
    topic: str
    partition: int
    first: int
    last: int
    types: tuple[int, ...]
    error: str

    def said(self, offset: int) -> int | None:
        """The type of one of the offsets; None if it is not among them."""
        if not self.first <= offset <= self.last:
            return None
        return self.types[0] if len(self.types) == 1 else self.types[offset - self.first]


@dataclass(slots=True, kw_only=True)
class Refused(Entry):
    """A broker did not do what the `user` asked for: it answered errors, or did not answer (`lost`).

    `errors` are Kafka's names; `fault` is whether a fault of the plan did that.
    """

    api: str
    errors: tuple[str, ...]
    lost: bool
    fault: bool


@dataclass(slots=True, kw_only=True)
class Initialized(Entry):
    """A broker gave the `user` a producer id: others that have the same transactional id are fenced.

    `fault` is whether a fault of the plan acted on that: it may have been earlier then, and answered late.
    """

    fault: bool


@dataclass(slots=True, kw_only=True)
class Happened(Entry):
    """A step of the plan was carried out on the cluster; `why_not` says why it could not be. `do` is what a
    step calls it, where that matters."""

    what: str
    why_not: str = ""
    do: str = ""


@dataclass(slots=True, kw_only=True)
class Exited(Entry):
    """The process of a whole application ended, with 128 plus the number of a signal if one ended it.

    `asked`: it was told to end. `killed`: it did not in time. `output` is the last that it printed.
    """

    status: int
    asked: bool
    killed: bool
    output: str


class Journal:
    """The entries of a run."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.clock: Callable[[], int] = lambda: 0
        """ms since the start."""

    def add(self, entry: E) -> E:
        entry.at, entry.ms = len(self.entries), self.clock()
        self.entries.append(entry)
        return entry

    def of(self, kind: type[E]) -> Iterator[E]:
        return (each for each in self.entries if isinstance(each, kind))

    def sent(self) -> dict[int, Sent]:
        """The records that were sent, by their numbers."""
        return {each.number: each for each in self.of(Sent)}

    @property
    def last(self) -> int:
        return len(self.entries) - 1
