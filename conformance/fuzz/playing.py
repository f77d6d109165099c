"""Plays a session on the core and `Connection`, without sockets, in virtual time."""

import itertools
import math
import resource
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from mockbroker.controller.topic_creation import assign_replicas

from ...cluster.cluster import Cluster
from ...control.table import find
from ...control.target import Target
from ...duration import Duration, later
from ...environment import Environment
from ...errors import ConflictError, NotThereError
from ...faults import Faults
from ...protocol.api_keys import ApiKey
from ...protocol.releases import parse
from ...rig.client import Client, DisconnectedError
from ...seeded import streams
from ...server.observer import ClientConnection
from ...server.slices import ENDLESS, Slice
from ...trace import Trace
from .dialogue import Dialogue, Finding
from .good import write
from .largest import MOST_ENTRIES
from .modes import BROKERS, Maker
from .silence import JudgedConnection
from .steps import Close, Do, Send, Session, Step
from .values import TOPICS, WITNESS, Known

NOW_MS: Final = 1_800_000_000_000
STALL_SECONDS: Final = 1.0
"""No step may take more CPU time than this."""
GROWTH_BYTES: Final = 300 * 1024 * 1024
"""No step may raise the peak memory of the process by more than this."""
_READ_BYTES: Final = 256 * 1024
_ASK_EVERY: Final = 10
_SLICE: Final = 2
"""How often a sliced connection may look at its clock, which it does about once for each request."""
_PARTS: Final = 20
"""How many parts of long requests are done after each step."""


class Played:
    """A cluster, the session's connections to it, and a good client."""

    def __init__(self, kafka: str, traced: bool, known: Known, sliced: bool = False) -> None:
        config = {"offsets.topic.num.partitions": "5", "transaction.state.log.num.partitions": "5"}
        environment = Environment(parse(kafka), streams(1), config=config, now_ms=NOW_MS)
        self.cluster = Cluster(environment, brokers=BROKERS)
        environment.failed = lambda error, call: self.failed(None, error)
        self._faults = Faults(self.cluster)
        self._trace = Trace(self.cluster)
        self._target = Target(
            self.cluster, self._faults, self._trace, "", self._settle, self._advance, self._trace.start
        )
        self._known = known
        self._dialogues: dict[int, Dialogue] = {}
        self._connections: dict[int, JudgedConnection] = {}
        self._ready: list[JudgedConnection] = []
        self._silenced = False
        self._named_twice = False
        """Whether a member named a protocol twice: no broker answers that member, nor its group."""
        for name in TOPICS:
            self.cluster.create_topic(
                name, assign_replicas(self.cluster.controller, 3, 1 if name == "t1" else 3)
            )
        self.cluster.create_topic(WITNESS, [[1]], {"max.message.bytes": "1000000", "retention.ms": "-1"})
        self._slice = ENDLESS
        if sliced:
            self._slice = Slice(itertools.count().__next__)
            self.cluster.work.in_parts = True
        self._good = _GoodClient(self)
        if traced:
            self._trace.start()
        self.error: Exception | None = None

    # What the connections tell: see `Observer`.
    def identified(self, connection: ClientConnection) -> None: ...
    def disconnected(self, connection: ClientConnection) -> None: ...
    def malformed(self, connection: ClientConnection, reason: str) -> None: ...
    def mismatched(self, connection: ClientConnection, why: str) -> None: ...
    def full(self, reason: str) -> None: ...
    def sum_up(self) -> None: ...
    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        self.error = error

    def policy_failed(self, error: Exception) -> None:
        self.error = error

    def play(self, step: Step) -> None:
        """Plays a step. Finding if something happens that must not."""
        began, most = time.thread_time(), _most_bytes()
        with self._without_errors():
            match step:
                case Send():
                    self._send(step)
                case Close(connection):
                    if connection in self._connections:
                        self._connections.pop(connection).wants_close = True
                        del self._dialogues[connection]
                case Do():
                    self._do(step)
            self._work(_PARTS)
            self._note_names()
            self._settle()
        if isinstance(step, Do) and step.operation == "clock advance":
            return  # a week takes as long as what happens in it
        if (took := time.thread_time() - began) > STALL_SECONDS:
            raise Finding("stall", f"{took:.1f} s of the processor")
        if (grew := _most_bytes() - most) > GROWTH_BYTES:
            raise Finding("memory", f"{grew // 2**20} MB for one step")

    def ask(self) -> None:
        """The good client asks. Finding if it is not served properly."""
        broker = self.cluster.brokers[1]
        if broker.online and not broker.fenced:
            self._good.ask()

    def end(self) -> None:
        """Everything that waits has to be answered once nothing is wrong and its time is over: after a month
        at most. Finding."""
        self.play(Do("faults clear"))
        for broker in self.cluster.brokers:
            self.play(Do("brokers rejoin", {"broker": broker}))
            self.play(Do("brokers start", {"broker": broker}))
        self._pass("1m")
        for topic in list(self.cluster.topics.values()):
            for partition in topic.partitions:
                for follower in list(partition.followers):
                    where = {"topic": topic.name, "partition": partition.index, "broker": follower}
                    self.play(Do("followers resume", where))
        for by in ("1s", "5m", "1h"):
            self._pass(by)
        if any(connection.parked is not None for connection in self._connections.values()):
            self._pass("30d")
        self.ask()
        if self._silenced:
            return
        for number, connection in self._connections.items():
            if connection.wants_close:
                continue
            if connection.unanswered:
                raise Finding("no answer", f"connection {number} waits for ever: {connection.unanswered}")
            if connection.owes_nothing:
                continue
            if connection.parked is not None:
                api = connection.parked[1].api_key
                if api is ApiKey.JOIN_GROUP and self._named_twice:
                    continue
                raise Finding("no answer", f"connection {number} waits for ever: {api.name}")
            dialogue = self._dialogues[number]
            if dialogue.strict and not dialogue.quiet():
                raise Finding("no answer", f"connection {number} was not answered: {dialogue.owed()}")

    def _pass(self, by: str) -> None:
        with self._without_errors():
            self._work(math.inf)
            self._advance(by)
            self._work(math.inf)
            self._settle()

    @contextmanager
    def _without_errors(self) -> Iterator[None]:
        """Finding if something is raised, or was told of by a connection."""
        try:
            yield
            if self.error is not None:
                raise self.error
        except Finding:
            raise
        except Exception as error:
            raise Finding("error", "".join(traceback.format_exception(error))) from error

    def _work(self, parts: float) -> None:
        """Does this many parts of the long requests."""
        while self.cluster.work and parts > 0:
            self.cluster.work.go_on()
            parts -= 1

    def _send(self, step: Send) -> None:
        connection = self._connections.get(step.connection)
        if connection is None or connection.wants_close:
            if not self.cluster.brokers[step.broker].online:
                return
            connection = self.connect(step.broker)
            self._connections[step.connection] = connection
            self._dialogues[step.connection] = Dialogue(self._known)
        dialogue = self._dialogues[step.connection]
        dialogue.strict = dialogue.strict and not self._faults.rules
        for data in step.writes:
            dialogue.sent(data)
            dialogue.got(self.receive(connection, data))

    def _note_names(self) -> None:
        """Looks for members that name a protocol twice."""
        for connection in self._connections.values():
            found = connection.parked
            # A large request has no values before it is read.
            if found is not None and found[1].api_key is ApiKey.JOIN_GROUP and found[3] is not None:
                names = [each.name for each in found[3].protocols]
                self._named_twice = self._named_twice or len(set(names)) < len(names)

    def connect(self, broker: int) -> JudgedConnection:
        return JudgedConnection(
            self.cluster,
            self.cluster.brokers[broker],
            "fuzz",
            "/127.0.0.1",
            self,
            self._ready.append,
            self._faults,
            self._trace,
            self._slice,
        )

    def receive(self, connection: JudgedConnection, data: bytes) -> bytes:
        """Receives as the pump does: bytes of a large frame are read into the buffer in which it is
        assembled."""
        rest, answers = memoryview(data).toreadonly(), b""
        while rest and not connection.wants_close:
            self._begin_slice()
            target = connection.target
            size = min(len(rest), _READ_BYTES if target is None else len(target))
            if target is None:
                connection.receive(rest[:size])
            else:
                target[:size] = rest[:size]
                connection.filled(size)
            rest = rest[size:]
            answers += self._sent(connection)
        return answers

    def _do(self, step: Do) -> None:
        if step.operation == "faults add":
            self._silenced = self._silenced or step.arguments["do"] in ("silence", "hold")
        try:
            function = find(step.operation).function
            self._target.do(function, **step.arguments)
        except (NotThereError, ConflictError, ValueError):
            return
        if self._faults.rules:
            for dialogue in self._dialogues.values():
                dialogue.strict = False

    def _advance(self, by: Duration) -> None:
        self.cluster.advance(later(self.cluster.now_ms, by))

    def _settle(self) -> None:
        """Brokers that went down close their connections; what is ready is sent."""
        for number, connection in list(self._connections.items()):
            if not connection.broker.online:
                connection.wants_close = True
                del self._connections[number], self._dialogues[number]
        self._trace.changed()
        by_connection = {connection: number for number, connection in self._connections.items()}
        while self._ready:
            ready, self._ready[:] = list(self._ready), []
            for connection in ready:
                if connection in by_connection:
                    dialogue = self._dialogues[by_connection[connection]]
                    dialogue.got(self._sent(connection))

    def _sent(self, connection: JudgedConnection) -> bytes:
        """What the connection has to send; it then continues with what it kept back."""
        found = b""
        while True:
            found += b"".join(map(bytes, connection.out))
            connection.out.clear()
            connection.out_bytes = 0
            if not connection.behind:
                return found
            self._begin_slice()
            connection.resume()

    def _begin_slice(self) -> None:
        if self._slice is not ENDLESS:
            self._slice.end = self._slice.clock() + _SLICE


class _GoodClient(Client):
    """Writes to its topic and reads it back, on a connection of its own."""

    def __init__(self, stage: Played) -> None:
        super().__init__("", 0, "good")
        self._stage = stage
        self._connection: JudgedConnection | None = None
        self._answer = b""
        self._end = 0

    def send_frame(self, frame: bytes) -> None:
        if self._connection is None or self._connection.wants_close:
            self._connection = self._stage.connect(1)
        self._answer = self._stage.receive(self._connection, len(frame).to_bytes(4, "big") + frame)

    def read_frame(self) -> bytes:
        if not self._answer:
            raise Finding("good client", "got no answer")
        return self._answer[4:]

    def ask(self) -> None:
        version = 8
        if (self._stage.cluster.release.number) < (2, 4):
            version = 3
        try:
            write(self, version, self._stage.cluster.now_ms, self._end)
        except (DisconnectedError, ValueError) as error:
            raise Finding("good client", repr(error)) from error
        self._end += 1


def _most_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def play(session: Session) -> Finding | None:
    """What goes wrong in a session, if anything does."""
    stage = Played(session.kafka, session.traced, Known(), sliced(session.mode, session.seed))
    return _through(stage, session.steps)


def sliced(mode: str, seed: int) -> bool:
    """Whether a session's connections have slices, and large requests are done in parts."""
    return mode == "largest" or seed // 6 % 2 == 1


def explore(
    mode: str,
    seed: int,
    tell: Callable[[Session], None] = lambda _: None,
    most_entries: int = MOST_ENTRIES,
) -> tuple[Session, Finding | None]:
    """Makes a session while it is played. `tell` is called before each step, with the session up to and
    including it. The largest requests have that many entries."""
    known = Known()
    maker = Maker(mode, seed, known, NOW_MS)
    maker.most_entries = most_entries
    steps: list[Step] = []
    session = Session(mode, seed, maker.kafka, maker.traced, steps)

    def noted() -> Iterator[Step]:
        for step in maker.steps():
            steps.append(step)
            tell(session)
            yield step

    return session, _through(Played(maker.kafka, maker.traced, known, sliced(mode, seed)), noted())


def _through(stage: Played, steps: Iterable[Step]) -> Finding | None:
    try:
        for number, step in enumerate(steps):
            stage.play(step)
            if number % _ASK_EVERY == 0:
                stage.ask()
        stage.end()
    except Finding as finding:
        return finding
    return None
