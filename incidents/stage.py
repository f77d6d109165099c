"""What a story plays on: a cluster, its operator, its applications, and the record of what is true."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import trio

from mockbroker.errors import MockBrokerError

from .admin import Admin, holds
from .clients import LIBRARIES, Applications, Producer
from .cluster import BROKERS, RecordedCluster
from .truth import Truth, Value

INTERNAL: Final = ("__consumer_offsets", "__transaction_state")
LIMIT_S: Final = 300.0
_PACE_S: Final = 0.1
_AT_ONCE: Final = 5


class StoryError(MockBrokerError, RuntimeError):
    """Something did not happen that a story waits for."""


@dataclass
class IncidentStage:
    """`tell` is told what is under way. Nothing waits for longer than five minutes. `logs` has those of the
    clients; `copy` keeps the files as they are then, not those at the end. `caused` is false in a twin, in
    which all is as in the incident, but for its cause."""

    cluster: RecordedCluster
    admin: Admin
    clients: Applications
    logs: Path
    truth: Truth
    tell: Callable[[str], None]
    copy: Callable[[], None]
    caused: bool = True
    acknowledged: Counter[str] = field(default_factory=Counter)

    def did(self, what: str, **fields: Value) -> None:
        self.truth.did(what, **fields)
        self.tell(what)

    def noticed(self, symptom: str, **fields: Value) -> None:
        """What somebody notices of it, with offsets: `offset` up to and without `end_offset`."""
        self.truth.noticed(symptom, **fields)

    def refused(self, producer: Producer) -> None:
        """Records of `orders`-0 were refused."""
        self.did(
            "records were refused",
            topic="orders",
            partition=0,
            client=producer.handle,
            count=len(producer.failed),
            error=producer.failed[0],
        )

    async def until(self, what: str, condition: Callable[[], bool]) -> None:
        """Waits for a condition, which may ask brokers. StoryError."""
        self.tell(f"waits for {what}")
        with trio.move_on_after(LIMIT_S):
            while not await trio.to_thread.run_sync(holds, condition):
                await trio.sleep(_PACE_S)
            return
        raise StoryError(f"waited {LIMIT_S:.0f} s for {what}")

    async def do(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Calls what blocks, in a thread."""
        return await trio.to_thread.run_sync(lambda: function(*arguments, **named))

    async def create(self, topic: str, partitions: int = 1, **config: Any) -> None:
        await self.do(self.admin.create, topic, partitions, **config)
        # A broker may not have heard of the topic yet.
        await self.until(
            f"{topic} to have leaders",
            lambda: all(
                len(states := self.admin.states(topic, node)) and all(s.leader > 0 for s in states.values())
                for node in self.cluster.nodes
            ),
        )

    async def groups(self, topics: Iterable[str], **config: Any) -> None:
        """A group for each library, with one member."""
        for library, group in GROUPS.items():
            await self.clients.member(library, group, list(topics), **config)

    async def caught_up(self, *topics: str, groups: Iterable[str] | None = None) -> None:
        """Until the groups have read all."""

        def done() -> bool:
            ends = {
                (topic, partition): self.admin.offset(topic, partition)
                for topic in topics
                for partition in self.admin.states(topic)
            }
            return all(
                self.clients.at.get(group, {}).get(place, 0) >= end
                for group in groups or GROUPS.values()
                for place, end in ends.items()
            )

        await self.until("groups that have read all", done)

    async def in_sync(self, *topics: str, transactions: bool = False) -> None:
        names = (*topics, *INTERNAL) if transactions else (*topics, INTERNAL[0])
        await self.until("all replicas to be in sync", lambda: self.admin.ready(*names))

    @asynccontextmanager
    async def traffic(
        self, topic: str, partitions: int = 1, libraries: Sequence[str] = LIBRARIES
    ) -> AsyncIterator[None]:
        """Producers of libraries write all the while; at the end all that they sent is acknowledged."""
        ends = trio.Event()

        async def write(library: str) -> None:
            turn = 0
            while not ends.is_set():
                await self.clients.send(library, topic, turn % partitions, _AT_ONCE)
                self.acknowledged[topic] += _AT_ONCE
                turn += 1
                await trio.sleep(_PACE_S)

        async with trio.open_nursery() as nursery:
            for library in libraries:
                nursery.start_soon(write, library)
            yield
            ends.set()

    async def more(self, topic: str, count: int = 100) -> None:
        """Waits until that many more records were acknowledged by `traffic`."""
        wanted = self.acknowledged[topic] + count
        await self.until(f"{count} more records", lambda: self.acknowledged[topic] >= wanted)

    async def stop(self, node: int) -> None:
        await self.do(self.cluster.stop_broker, node)
        self.did("a broker was shut down", broker=node)

    async def start(self, node: int) -> None:
        await self.do(self.cluster.start_broker, node)
        self.did("a broker was started", broker=node)

    async def led(self, topic: str, by: int, partition: int = 0) -> None:
        await self.until(
            f"broker {by} to lead {topic}-{partition}",
            lambda: self.admin.state(topic, partition).leader == by,
        )

    def jumps(self, topic: str) -> None:
        """Notes which groups were set back or on, and from where to where."""
        for member in self.clients.members:
            for (name, partition), at, came in member.jumps:
                if name == topic:
                    self.truth.events.append(
                        {
                            "did": "a group was set back" if came < at else "a group was set on",
                            "group": member.group,
                            "topic": topic,
                            "partition": partition,
                            "from_offset": at,
                            "offset": came,
                        }
                    )


GROUPS: Final = dict(zip(LIBRARIES, ("billing", "shipping", "reports"), strict=True))
"""The usual group of each library."""
Play = Callable[[IncidentStage], Awaitable[None]]


@dataclass(frozen=True)
class Story:
    """`finding` is the signature that is expected, None for an operation that is healthy. `topics` are kept
    with their segments. `stepped` is a broker whose clock can be set. `since` is the first release that has
    what happens. `libraries` have a process from the beginning. With `login` there is a listener with SASL.
    A `twin` of an incident is played without its cause, and is healthy."""

    play: Play
    finding: str | None
    config: Mapping[str, str]
    topics: tuple[str, ...]
    stepped: int | None
    since: tuple[int, int]
    brokers: int
    libraries: Sequence[str]
    login: bool = False
    twin: bool = False

    @property
    def name(self) -> str:
        name = getattr(self.play, "__name__", "").replace("_", "-")
        return f"{name}-healthy" if self.twin else name

    def known_to(self, release: str) -> bool:
        major, minor, *_ = map(int, release.split("."))
        return (major, minor) >= self.since

    @property
    def about(self) -> str:
        about = (self.play.__doc__ or "").strip()
        return f"The same without its cause: {about}" if self.twin else about


STORIES: dict[str, Story] = {}
"""By name."""


def story(
    finding: str | None = None,
    *,
    config: Mapping[str, str] | None = None,
    topics: tuple[str, ...] = ("orders",),
    stepped: int | None = None,
    since: tuple[int, int] = (3, 9),
    brokers: int = len(BROKERS),
    libraries: Sequence[str] = LIBRARIES,
    login: bool = False,
    twin: Mapping[str, str] | None = None,
) -> Callable[[Play], Play]:
    """Adds a story, which is called as its function is, and its twin, if there is a configuration that `twin`
    adds to its own."""

    def add(play: Play) -> Play:
        one = Story(play, finding, dict(config or {}), topics, stepped, since, brokers, libraries, login)
        STORIES[one.name] = one
        if twin is not None:
            other = replace(one, finding=None, config={**one.config, **twin}, twin=True)
            STORIES[other.name] = other
        return play

    return add
