"""The kinds of events. Times are Unix milliseconds of the cluster's clock; offsets and epochs are Kafka's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ..errors import MockBrokerError
from . import event
from .event import Event, OfPartition
from .group_events import Member, ShareSession


class BodyNotKeptError(MockBrokerError, LookupError):
    """The body of a request or an answer was not kept (`trace="requests"`)."""


class _NotKept(dict[str, Any]):
    """The body of an event in a trace without bodies."""

    def __missing__(self, name: str) -> Any:
        raise BodyNotKeptError(
            f"there is no {name!r}, since bodies are not kept: make the cluster with trace=True"
        )

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


NOT_KEPT: Final = _NotKept()

SCHEMA_VERSION: Final = 2
"""The version of the fields below, as in files: goes up when one changes its meaning or is removed. From 2 on
there are keyframes, from which the state at any time can be told."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Request(Event):
    """A request came. `names` are the topics, partitions, groups and transactional ids that it is about."""

    broker: int
    connection: str
    client_id: str | None
    api: str
    version: int
    correlation_id: int
    names: tuple[str, ...]
    body: dict[str, Any] = field(repr=False)
    kind: ClassVar[str] = "request"

    def text(self) -> str:
        return f"broker {self.broker} <- {self.client_id}: {self.api} v{self.version} {' '.join(self.names)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(Event):
    """A request was answered, or not: `outcome` is `answer`, `none` (acks=0), `closed` or `silence`.

    `errors` are the names of its error codes; `faults` are the faults that acted on it; `took_ms` is how long
    it took, by the cluster's clock.
    """

    broker: int
    connection: str
    client_id: str | None
    api: str
    version: int
    correlation_id: int
    names: tuple[str, ...]
    outcome: str
    errors: tuple[str, ...]
    faults: tuple[str, ...]
    body: dict[str, Any] = field(repr=False)
    took_ms: int = 0
    kind: ClassVar[str] = "answer"

    def text(self) -> str:
        what = " ".join(self.errors) or ("ok" if self.outcome == "answer" else self.outcome)
        faults = f" [{'; '.join(self.faults)}]" if self.faults else ""
        late = f" after {self.took_ms} ms" if self.took_ms else ""
        return f"broker {self.broker} -> {self.client_id}: {self.api} {what}{late}{faults}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Malformed(Event):
    """A client sent something that no broker answers, and its connection is closed: bytes that are not a
    request, or a request of an API or version that the release does not have. `client_id` is the last one
    that was read."""

    broker: int
    connection: str
    client_id: str | None
    reason: str
    kind: ClassVar[str] = "malformed"
    line = "broker {broker} <- {client_id}: closed, {reason}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Login(Event):
    """A client of a listener with TLS or SASL proved who it is, or failed to: `failure` says why, and is
    empty if it succeeded. `mechanism` is that of SASL, empty without SASL; `tls` has version and cipher,
    empty without TLS; `principal` is who sends what follows. Passwords and tokens are not kept."""

    broker: int
    connection: str
    client_id: str | None
    listener: str
    protocol: str
    mechanism: str
    tls: str
    principal: str
    failure: str
    kind: ClassVar[str] = "login"

    def text(self) -> str:
        by = " ".join(filter(None, (self.protocol, self.mechanism, self.tls)))
        what = f"login failed, {self.failure}" if self.failure else f"is {self.principal}"
        return f"broker {self.broker} <- {self.client_id}: {what} ({self.listener}: {by})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Broker(Event):
    """A broker went down or came up, or was fenced by the controller: `running`, `stopped`, `killed`, …"""

    broker: int
    state: str
    fenced: bool
    kind: ClassVar[str] = "broker"

    def text(self) -> str:
        return f"broker {self.broker} is {self.state}{', fenced' * self.fenced}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Leader(OfPartition):
    """The leader, -1 if there is none, or the leader epoch changed.

    `reason` is why, for people; empty for what a partition begins with."""

    leader: int
    leader_epoch: int
    reason: str = ""
    kind: ClassVar[str] = "leader"

    def text(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.topic}-{self.partition}: leader {self.leader}, leader epoch {self.leader_epoch}{why}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InSyncReplicas(OfPartition):
    """The ISR shrank or grew."""

    in_sync_replicas: tuple[int, ...]
    kind: ClassVar[str] = "in-sync-replicas"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HighWatermark(OfPartition):
    """The leader's high watermark moved; read_committed consumers read only up to `last_stable_offset`."""

    high_watermark: int
    last_stable_offset: int
    log_end_offset: int
    kind: ClassVar[str] = "high-watermark"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LogStart(OfPartition):
    """The leader's log start offset moved."""

    log_start_offset: int
    kind: ClassVar[str] = "log-start"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Truncation(OfPartition):
    """A replica's log was truncated."""

    broker: int
    from_offset: int
    to_offset: int
    kind: ClassVar[str] = "truncation"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Follower(OfPartition):
    """How a follower follows: `in step`, `behind`, `paused`, `failed`, … with the reason of a failure."""

    broker: int
    state: str
    failure: str
    kind: ClassVar[str] = "follower"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Replica(OfPartition):
    """A replica's log changed, or what its broker knows of the leader.

    `leader` is -1 if there is none; `epochs` are the leader epochs of the log, each with the offset at which
    it starts. If the broker no longer has the replica, the offsets are -1.
    """

    broker: int
    leader: int
    leader_epoch: int
    log_start_offset: int
    high_watermark: int
    log_end_offset: int
    epochs: tuple[tuple[int, int], ...]
    kind: ClassVar[str] = "replica"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Image(Event):
    """A running broker's metadata image came to differ from the controller's, or differs otherwise.

    `missing` is how many metadata records the broker has not learned of, 0 once it has learned of all.
    `known` lists partitions whose leader or leader epoch is another one for it, at most 200: topic, index,
    and the leader and leader epoch that it knows, both -1 if it does not know the partition."""

    broker: int
    missing: int
    known: tuple[tuple[str, int, int, int], ...]
    kind: ClassVar[str] = "image"
    line = "broker {broker} has not learned of {missing} metadata records"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Producer(OfPartition):
    """What the leader knows about a producer changed; its sequence is -1 if there is none, and both are -1 if
    the leader has forgotten it."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    kind: ClassVar[str] = "producer"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Topic(Event):
    """A topic was created, has got more partitions, or was deleted: then it has none."""

    topic: str
    topic_id: str
    partitions: int
    replication_factor: int
    kind: ClassVar[str] = "topic"

    def text(self) -> str:
        if not self.partitions:
            return f"the topic {self.topic} was deleted"
        return f"the topic {self.topic} has {self.partitions} partitions, {self.replication_factor} replicas"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Committed(OfPartition):
    """A group's committed offset changed; -1: it has none left."""

    group: str
    offset: int
    leader_epoch: int
    kind: ClassVar[str] = "committed"

    def text(self) -> str:
        offset = "nothing" if self.offset < 0 else self.offset
        return f"group {self.group} has committed {offset} of {self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Appeared(OfPartition):
    """A partition is there that was not; `rows` tell its state, as those of a keyframe do."""

    rows: tuple[dict[str, Any], ...] = field(repr=False)
    kind: ClassVar[str] = "appeared"
    line = "{topic}-{partition} is new"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Keyframe(Event):
    """The whole state: `rows` are those of events without number and time, which together bring it about."""

    rows: tuple[dict[str, Any], ...] = field(repr=False)
    kind: ClassVar[str] = "keyframe"

    def text(self) -> str:
        return f"the whole state, {len(self.rows)} rows"


DETAILS: Final = frozenset(
    {
        Keyframe.kind,
        Appeared.kind,
        Replica.kind,
        Image.kind,
        Producer.kind,
        Member.kind,
        ShareSession.kind,
    }
)
"""Kinds that tell the state of every replica, broker and member; whoever wants them asks for them by name."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transaction(Event):
    """The state, producer or coordinator of a transactional id changed."""

    transactional_id: str
    coordinator: int
    state: str
    producer_id: int
    producer_epoch: int
    kind: ClassVar[str] = "transaction"
    line = (
        "transaction {transactional_id} on broker {coordinator}: {state}, "
        "producer {producer_id} epoch {producer_epoch}"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopicNotCreated(Event):
    """A client asked for a topic, or asked to create it, and it was not created: `failure` says why."""

    topic: str
    failure: str
    kind: ClassVar[str] = "topic-not-created"
    line = "the topic {topic!r} was not created: {failure}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Policy(Event):
    """The answer of a behaviour was changed."""

    name: str
    answer: str
    topic: str | None
    broker: int | None
    kind: ClassVar[str] = "policy"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision(Event):
    """A behaviour decided: `name` is its name, `answer` that of the answer in force, for `topic` on `broker`
    if it was asked for those.

    `source` is where the answer comes from: the `release`, a fix (`fixed`), `chosen` by name, or a user's
    `own`. `scope` is what it was set for, such as `@topic:orders@broker:1`, empty for the whole cluster. If
    the answer is a function, `asked` and `answered` are its arguments and its result. `request` is the number
    of the event of the request that was being handled, None if there was none.
    """

    request: int | None
    name: str
    answer: str
    source: str
    scope: str
    topic: str | None
    broker: int | None
    asked: dict[str, Any] | None
    answered: Any
    kind: ClassVar[str] = "decision"

    def text(self) -> str:
        where = f" for {self.topic}" if self.topic is not None else ""
        where += f" on broker {self.broker}" if self.broker is not None else ""
        decided = f"{self.name}={self.answer} ({self.source}{self.scope}){where}"
        if self.asked is None:
            return decided
        asked = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.asked.items())
        return f"{decided}: {asked} -> {self.answered}"


KINDS: Final[Mapping[str, type[Event]]] = event.KINDS
"""By `kind`, which files and queries use."""
