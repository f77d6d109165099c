"""Plays one plan with one driver: a cluster, applications, what happens to them, what is there in the end."""

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

import trio

from mockbroker.cluster_options import ClusterOptions
from mockbroker.server.serving import ServedCluster, serve
from mockbroker.trace import Event
from mockbroker.trace.events import Decision

from ..drivers import Driver, DriverFailedError, OverdueError
from ..upstream.cluster import NotWithUpstreamError
from ..upstream.upstream import Upstream
from .admins import Administering
from .coverage import Learning
from .elsewhere import lacks
from .lateness import noticing
from .members import Consuming
from .plan import Plan, looks_for_new
from .refusals import note_answer
from .scene import Scene, options
from .settling import Settling
from .shares import Sharing
from .stage import PATIENCE, Outcome, Patience, Stage, probe
from .transactions import Processing, Transacting
from .users import Made, Sending, User

_EVERY: Final = (Sending, Transacting, Processing, Consuming, Administering, Sharing)
KINDS: Final[Mapping[str, Made]] = {each.kind: each for each in _EVERY}
_BUSY: Final = 0.9
_RESTS_S: Final = (0.2, 1.0, 1.0, 1.0)
"""A client is watched for so long: to the end only if it is busy all the time."""
Users = Mapping[str, User]
Script = Callable[[Stage, Users], Awaitable[None]]
"""What applications do and what happens to the cluster, in place of a plan's steps."""


class _Run:
    def __init__(self, stage: Stage, learning: Learning | None) -> None:
        self._stage, self.outcome = stage, stage.outcome
        self._plan, self._scene = stage.plan, Scene(stage.cluster, stage.outcome)
        stage.driver.begins = self._begins

        self._learning = learning
        if learning is not None:
            stage.cluster.trace.listen(learning.heard)

    def _begins(self, handle: str, verb: str) -> None:
        user = self._stage.user_of(handle)
        self._scene.waits.begins(user, verb)
        if self._learning is not None:
            self._learning.begins(user, verb)

    async def to_the_end(self, script: Script | None) -> None:
        users = {each.name: KINDS[each.kind](self._stage, each) for each in self._plan.users}
        if script is None:
            events = ("", self._scene.events)
            async with trio.open_nursery() as meanwhile:
                meanwhile.start_soon(self._scene.placed)
                await self._at_once([*((name, user.run) for name, user in users.items()), events])
                meanwhile.cancel_scope.cancel()
        else:
            await self._at_once([("", functools.partial(script, self._stage, users))])
        if self._learning is not None:
            self._learning.over = True
        if self.outcome.broken is None:
            self._scene.repair()
            await self._probe()
            self._stage.at_work = {name for name, user in users.items() if not isinstance(user, Sharing)}
            await self._at_once(
                [(name, functools.partial(self._afterwards, name, user)) for name, user in users.items()]
            )
        if self.outcome.broken is None:
            await self._rest(script, "while its application asks for nothing")
            await self._at_once([(name, user.leave) for name, user in users.items()])
        if self.outcome.broken is None:
            await self._rest(script, "though it is closed")
        self._scene.take_stock("g")

    async def _at_once(self, doing: Sequence[tuple[str, Callable[[], Awaitable[Any]]]]) -> None:
        """What breaks ends all of it."""

        async def do(name: str, function: Callable[[], Awaitable[Any]], scope: trio.CancelScope) -> None:
            try:
                await function()
            except (OverdueError, DriverFailedError) as error:
                if self.outcome.broken is None:
                    self.outcome.broken, self.outcome.broken_user = error, name
                scope.cancel()

        async with trio.open_nursery() as nursery:
            for name, function in doing:
                nursery.start_soon(do, name, function, nursery.cancel_scope)

    async def _afterwards(self, name: str, user: User) -> None:
        await user.afterwards()
        self._stage.at_work.discard(name)

    async def _rest(self, script: Script | None, when: str) -> None:
        """Notes if a client does not rest when there is nothing to do; of a script nobody knows when."""
        if script is not None or self.outcome.busy:
            return
        for time_s in _RESTS_S:
            if await self._stage.driver.busiest(time_s) < _BUSY:
                return
        self.outcome.busy = when

    async def _probe(self) -> None:
        for topic in self._plan.topics:
            for partition in range(topic.partitions):
                await self._write_probe(self._stage.probes, topic.name, partition)
        for name, partition in self._scene.added() if looks_for_new(self._plan) else ():
            await self._write_probe(self._stage.added, name, partition)

    async def _write_probe(self, written: dict[str, set[bytes]], topic: str, partition: int) -> None:
        value = probe((topic, partition))
        await self._scene.write(topic, partition, value, "probe", self._stage.patience.settle_s)
        written.setdefault(topic, set()).add(value)


async def play(
    plan: Plan,
    driver: Driver,
    id_: str,
    patience: Patience = PATIENCE,
    script: Script | None = None,
    *,
    trace: Literal[True, "requests"] = "requests",
    learning: Learning | None = None,
    upstream: Upstream | None = None,
) -> Outcome:
    """Takes a few seconds. `id_` has to be another one for each run with this driver. With a `script`, or if
    somebody is `learning` from it, the cluster has this `trace`. With an `upstream`, that is the cluster:
    NotWithUpstreamError, UpstreamError, OSError."""
    given = options(plan)
    shares = any(user.kind == Sharing.kind for user in plan.users)
    given["trace"] = True if shares else "requests" if script is None and learning is None else trace
    driver.grace_s = patience.grace_s
    async with _served(plan, given, driver, upstream) as cluster:
        run = _Run(Stage(plan, driver, id_, cluster, patience), learning)
        run.outcome.client = driver.hello.client
        cluster.trace.listen(functools.partial(note_answer, run.outcome))
        if shares:
            cluster.trace.listen(Settling(cluster, run.outcome).heard)
        if script is not None:
            _note_decisions(cluster, run.outcome)
        async with noticing(run.outcome, driver):
            await run.to_the_end(script)
        return run.outcome


@contextlib.asynccontextmanager
async def _served(
    plan: Plan, given: ClusterOptions, driver: Driver, upstream: Upstream | None
) -> AsyncIterator[ServedCluster]:
    if upstream is None:
        async with serve(**given) as cluster:
            yield cluster
        return
    # What a script does is known only when it does it.
    for each in lacks(plan):
        raise NotWithUpstreamError(each)
    async with upstream.served(driver, plan.policies) as behind:
        yield behind.as_cluster


def _note_decisions(cluster: ServedCluster, outcome: Outcome) -> None:
    def note(event: Event) -> None:
        if isinstance(event, Decision):
            outcome.decided.add(event.name)

    cluster.trace.listen(note)
