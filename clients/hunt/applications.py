"""A whole application: a command that reads topics, and is judged by what it writes, commits, and by its
exit."""

import os
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import trio

from mockbroker.errors import MockBrokerError
from mockbroker.scenario.command import Command
from mockbroker.server.serving import ServedCluster, serve

from ..drivers.lines import Hello
from .campaign import REPEATS, Campaign
from .correspondence import RECORD, USER, name_of, named_in, user_of
from .journal import Exited, Happened, Journal
from .lateness import noticing
from .plan import Plan
from .scene import Scene, options
from .stage import Outcome

_LAST: Final = 2
"""So many records are written to each partition when all is well again."""
_OFTEN_S: Final = 0.25
_AGAIN_S: Final = 0.5
_KEPT: Final = 8_192
_SHOWN: Final = 60
_COMMITS_S: Final = 10.0
"""How long to wait for the last commit: it may also be made when the application ends."""


@dataclass(frozen=True)
class Application:
    """What starts it, with `{bootstrap}` and `{directory}` in it, and how long it may take, in seconds: to
    process its first records, to process all of them once all is well again, to end when it is told to."""

    command: Sequence[str]
    start_s: float = 60.0
    settle_s: float = 60.0
    end_s: float = 30.0


class Lane:
    """Plays plans with an application, each in a cluster and with a process of its own."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def hello(self) -> Hello:
        shown = " ".join(self._application.command)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return Hello(shown, frozenset(), None)

    async def run(self, plan: Plan) -> Outcome:
        """ValueError if the plan is not one of an application; OSError if it can't be started."""
        if user_of(plan) is None:
            raise ValueError("this is a plan for a client: give --client NAME or --client-command COMMAND")
        outcome = Outcome(plan, Journal())
        began = trio.current_time()
        outcome.journal.clock = lambda: round((trio.current_time() - began) * 1000)
        with tempfile.TemporaryDirectory(
            prefix="mockbroker-application-", ignore_cleanup_errors=True
        ) as directory:
            async with serve(**options(plan)) as cluster:
                with (Path(directory) / "output").open("wb") as output:
                    async with noticing(outcome):
                        await _Run(self._application, cluster, outcome, Path(directory), output).to_the_end()
        return outcome

    async def close(self) -> None:
        """Nothing is left after a run."""


@asynccontextmanager
async def application_campaign(
    application: Application, lanes: int, *, repeats: int = REPEATS
) -> AsyncIterator[Campaign[Lane]]:
    """Runs of an application beside each other."""
    yield Campaign([Lane(application) for _ in range(lanes)], repeats)


class _Run:
    def __init__(
        self,
        application: Application,
        cluster: ServedCluster,
        outcome: Outcome,
        directory: Path,
        output: IO[bytes],
    ) -> None:
        self._application, self._cluster, self._outcome = application, cluster, outcome
        self._scene = Scene(cluster, outcome)
        self._user = outcome.plan.users[0]
        work = directory / "work"
        work.mkdir()
        given = {"{bootstrap}": cluster.bootstrap_servers, "{directory}": str(work)}
        self._command = [_filled(each, given) for each in application.command]
        self._environment = {
            **os.environ,
            "BOOTSTRAP_SERVERS": cluster.bootstrap_servers,
            "MOCKBROKER_DIRECTORY": str(work),
        }
        self._output = output
        self._running: Command | None = None
        self._asked = False
        self._numbers = 0

    async def to_the_end(self) -> None:
        async with trio.open_nursery() as nursery:
            try:
                await self._start()
                nursery.start_soon(self._keep)
                await self._all()
                await self._end()
            finally:
                if self._running is not None:
                    await self._running.end()
            nursery.cancel_scope.cancel()
        self._scene.take_stock(self._user.fields["group"])

    # The process.

    async def _start(self) -> None:
        """OSError."""
        self._happened("starts")
        running = Command(self._command, self._output)
        await running.start(self._environment)
        self._running = running

    async def _keep(self) -> None:
        """Notes that it ended by itself, and starts it again if it is to be restarted."""
        while self._running is not None:
            ended = await self._running.wait()
            if self._asked:
                return
            self._running = None
            self._exited(ended.status)
            if self._user.fields["restarts"]:
                await trio.sleep(_AGAIN_S)
                await self._start()

    async def _end(self) -> None:
        self._asked = True
        if self._running is not None:
            self._happened("is told to end by SIGTERM")
            in_time = await self._running.end_within(self._application.end_s)
            self._exited((await self._running.wait()).status, killed=not in_time)

    def _exited(self, status: int, killed: bool = False) -> None:
        printed = Path(self._output.name).read_bytes()[-_KEPT:].decode(errors="replace").strip()
        self._outcome.journal.add(
            Exited(user=USER, status=status, asked=self._asked, killed=killed, output=printed)
        )

    @property
    def _gone(self) -> bool:
        return self._running is None and not self._user.fields["restarts"]

    # What it is given.

    async def _all(self) -> None:
        await self._everywhere(1)
        if self._user.fields["awaited"] and not await self._until(self._processed, self._application.start_s):
            self._happened(f"has not processed its first records in {self._application.start_s:g} s")
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._scene.events)
            nursery.start_soon(self._writes)
        self._scene.repair()
        await self._everywhere(_LAST)
        if await self._until(self._processed, self._application.settle_s):
            await self._until(self._committed, _COMMITS_S)

    async def _writes(self) -> None:
        for step in self._user.steps:
            await trio.sleep(step.after_ms / 1000)
            for _ in range(step.fields["count"]):
                await self._write(step.fields["topic"], step.fields["partition"])

    async def _everywhere(self, count: int) -> None:
        for topic in self._user.fields["input"]:
            for partition in range(self._outcome.plan.topic(topic).partitions):
                for _ in range(count):
                    await self._write(topic, partition)

    async def _write(self, topic: str, partition: int) -> None:
        self._numbers += 1
        name = name_of(self._numbers).decode()
        value = self._user.fields["value"].replace(RECORD, name).encode()
        self._happened(f"gets {name} in {topic}-{partition}")
        limit_s = self._application.settle_s
        await self._scene.write(topic, partition, value, f"key{self._numbers % 5}", limit_s)

    # What it has done.

    def _processed(self) -> bool:
        """Whether each input record is in the output; without an output, whether it is committed."""
        outputs = self._user.fields["output"]
        if not outputs:
            return self._committed()
        found: Counter[bytes] = Counter()
        with suppress(MockBrokerError):
            for topic in outputs:
                for each in self._cluster.records(topic, isolation_level="read_committed"):
                    found.update(named_in(each.key) | named_in(each.value))
        return all(name_of(number) in found for number in range(1, self._numbers + 1))

    def _committed(self) -> bool:
        """Whether all that was written is committed; nothing is in a partition that was added meanwhile."""
        group = self._user.fields["group"]
        if not group:
            return True
        with suppress(MockBrokerError):
            committed = self._cluster.committed(group)
            return all(
                each.high_watermark == 0
                or (
                    (topic, each.partition) in committed
                    and committed[topic, each.partition].offset >= each.high_watermark
                )
                for topic in self._user.fields["input"]
                for each in self._cluster.topic(topic).partitions
            )
        return False

    async def _until(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Whether it came true within the limit, while the application was there."""
        with trio.move_on_after(limit_s):
            while not condition() and not self._gone:
                await trio.sleep(_OFTEN_S)
        return condition()

    def _happened(self, what: str) -> None:
        self._outcome.journal.add(Happened(user=USER, what=what))


def _filled(text: str, given: dict[str, str]) -> str:
    for name, value in given.items():
        text = text.replace(name, value)
    return text
