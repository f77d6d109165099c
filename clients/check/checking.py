"""Plays cells with the drivers of one client, several at a time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from mockbroker.errors import first_of

from ..drivers import DriverFailedError, LeftOut
from ..hunt.campaign import DriverLane, campaign
from ..hunt.lateness import in_time
from ..hunt.playing import Users
from ..hunt.stage import PATIENCE, Patience, Stage
from ..upstream.cluster import NotWithUpstreamError
from ..upstream.upstream import Upstream
from .cells import Cell
from .scene import NotReachedError, Scene
from .verdicts import NOT_SUPPORTED, Judged, Verdict, failed, never_ended, verdict

LANES: Final = 12
"""Runs at a time: most of the time they wait for the timers of clients."""
RUNS: Final = 3
"""How often a cell is played in which something was violated."""
LIMIT_S: Final = 240.0
"""How long a run may take: none needs half of it, unless calls of the client go on for minutes."""
Tell = Callable[[Judged], None]


async def check(
    command: Sequence[str],
    cells: Sequence[Cell],
    tell: Tell,
    *,
    lanes: int = LANES,
    patience: Patience = PATIENCE,
    limit_s: float = LIMIT_S,
    left_out: LeftOut | None = None,
    upstream: Upstream | None = None,
) -> tuple[str, list[Judged]]:
    """The client's name, and what came of each cell, in their order; `tell` hears of each as soon as it is
    known. A driver that fails, or a run that does not end in `limit_s`, is a verdict of its cell. Settings
    that the driver doesn't take are added to `left_out`. OSError if it can't be started, or the
    `upstream` can't be asked."""
    client = ""
    found: dict[int, Judged] = {}
    # Runs are repeated on any lane, so that a slow cell does not keep the others waiting.
    send, to_play = trio.open_memory_channel[_Played](math.inf)
    left = len(cells)

    def enqueue(cell: _Played, runs: int = 1) -> None:
        for _ in range(runs):
            send.send_nowait(cell)

    async def work(lane: DriverLane) -> None:
        nonlocal client, left
        async for cell in to_play:
            client = await _play(lane, cell, limit_s, upstream) or client
            if len(cell.verdicts) == 1 and cell.verdicts[0].violated:
                cell.wanted = RUNS
                enqueue(cell, RUNS - 1)
            if len(cell.verdicts) == cell.wanted:
                found[cell.number] = cell.judged()
                tell(found[cell.number])
                left -= 1
            if not left:
                send.close()

    for number, cell in enumerate(cells):
        enqueue(_Played(number, cell))
    if not left:
        send.close()
    width = min(lanes, max(len(cells), 1))
    async with campaign(command, width, patience=patience) as drivers, trio.open_nursery() as nursery:
        for lane in drivers.lanes:
            nursery.start_soon(work, lane)
    if left_out is not None:
        left_out.add(drivers.left_out)
    return client, [found[number] for number in range(len(cells))]


@dataclass
class _Played:
    """A cell, and the verdicts of its runs so far."""

    number: int
    cell: Cell
    verdicts: list[Verdict] = field(default_factory=list)
    wanted: int = 1
    decided: frozenset[str] = frozenset()
    seconds: float = 0.0

    def judged(self) -> Judged:
        first = self.verdicts[0]
        times = sum(each.violated == first.violated for each in self.verdicts)
        return Judged(self.cell, first, times, len(self.verdicts), self.decided, self.seconds)


async def _play(lane: DriverLane, played: _Played, limit_s: float, upstream: Upstream | None) -> str:
    """Plays a cell once, and returns the client's name if its driver told it."""
    cell = played.cell
    try:
        driver = await lane.open()
    except (DriverFailedError, BaseExceptionGroup) as error:
        played.verdicts.append(failed(_why(error)))
        return ""
    taken = frozenset().union(*(driver.hello.settings or {}).values())
    if lacks := cell.scenario.needs - driver.hello.capabilities - taken:
        told = f"the driver has no {' and '.join(sorted(lacks))}"
        played.verdicts.append(Verdict(NOT_SUPPORTED, (), (told,)))
        return driver.hello.client
    began = trio.current_time()
    found, decided = await _once(lane, cell, limit_s, upstream if cell.upstream else None)
    played.seconds += trio.current_time() - began
    played.verdicts.append(found)
    played.decided = played.decided or decided
    return driver.hello.client


async def _once(
    lane: DriverLane, cell: Cell, limit_s: float, upstream: Upstream | None
) -> tuple[Verdict, frozenset[str]]:
    not_reached = ""

    async def tell(stage: Stage, users: Users) -> None:
        nonlocal not_reached
        try:
            await cell.scenario.tell(Scene(stage, users))
        except NotReachedError as error:
            not_reached = str(error)

    plan = cell.scenario.plan(cell.kafka, cell.fixed, cell.policies)
    try:
        with trio.fail_after(limit_s):
            outcome = await in_time(partial(lane.run, plan, tell, upstream=upstream))
    except trio.TooSlowError:
        return never_ended(limit_s), frozenset()
    except (DriverFailedError, NotWithUpstreamError, BaseExceptionGroup) as error:
        if isinstance(first := first_of(error), NotWithUpstreamError):
            return Verdict(str(first)), frozenset()
        return failed(_why(error)), frozenset()
    return verdict(outcome, not_reached), frozenset(outcome.decided)


def _why(error: BaseException) -> DriverFailedError:
    """Why the driver can't be used; what else went wrong is raised again."""
    first = first_of(error)
    if not isinstance(first, DriverFailedError):
        raise error
    return first
