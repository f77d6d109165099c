"""Plays cells with the drivers of one client, several at a time."""

from collections.abc import Callable, Sequence
from typing import Final

import trio

from mockbroker.errors import first_of

from ..drivers import DriverFailedError
from ..hunt.campaign import LANES, DriverLane, campaign
from ..hunt.playing import Users
from ..hunt.stage import PATIENCE, Patience, Stage
from .cells import Cell
from .scene import NotReachedError, Scene
from .verdicts import NOT_SUPPORTED, Judged, Verdict, failed, verdict

RUNS: Final = 3
"""How often a cell is played in which something was violated."""
Tell = Callable[[Judged], None]


async def check(
    command: Sequence[str],
    cells: Sequence[Cell],
    tell: Tell,
    *,
    lanes: int = LANES,
    patience: Patience = PATIENCE,
) -> tuple[str, list[Judged]]:
    """The client's name, and what came of each cell, in their order; `tell` hears of each as soon as it is
    known. A driver that fails is a verdict of its cell. OSError if it can't be started."""
    found: dict[int, Judged] = {}
    client = ""
    to_do = iter(enumerate(cells))

    async def work(lane: DriverLane) -> None:
        nonlocal client
        for number, cell in to_do:
            judged, name = await _play(lane, cell)
            client = name or client
            found[number] = judged
            tell(judged)

    width = min(lanes, max(len(cells), 1))
    async with campaign(command, width, patience=patience) as drivers, trio.open_nursery() as nursery:
        for lane in drivers.lanes:
            nursery.start_soon(work, lane)
    return client, [found[number] for number in range(len(cells))]


async def _play(lane: DriverLane, cell: Cell) -> tuple[Judged, str]:
    try:
        driver = await lane.open()
    except (DriverFailedError, BaseExceptionGroup) as error:
        return Judged(cell, failed(_why(error))), ""
    lacks = cell.scenario.needs - driver.hello.capabilities
    if lacks:
        told = f"the driver has no capability {' and '.join(sorted(lacks))}"
        return Judged(cell, Verdict(NOT_SUPPORTED, (), (told,))), driver.hello.client
    began = trio.current_time()
    first, decided = await _once(lane, cell)
    times = runs = 1
    if first.violated:
        for _ in range(RUNS - 1):
            again, _ = await _once(lane, cell)
            runs += 1
            times += again.violated == first.violated
    seconds = trio.current_time() - began
    return Judged(cell, first, times, runs, decided, seconds), driver.hello.client


async def _once(lane: DriverLane, cell: Cell) -> tuple[Verdict, frozenset[str]]:
    not_reached = ""

    async def tell(stage: Stage, users: Users) -> None:
        nonlocal not_reached
        try:
            await cell.scenario.tell(Scene(stage, users))
        except NotReachedError as error:
            not_reached = str(error)

    plan = cell.scenario.plan(cell.kafka, cell.fixed, cell.policies)
    try:
        outcome = await lane.run(plan, tell)
    except (DriverFailedError, BaseExceptionGroup) as error:
        return failed(_why(error)), frozenset()
    return verdict(outcome, not_reached), frozenset(outcome.decided)


def _why(error: BaseException) -> DriverFailedError:
    """Why the driver can't be used; what else went wrong is raised again."""
    first = first_of(error)
    if not isinstance(first, DriverFailedError):
        raise error
    return first
