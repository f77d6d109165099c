"""Runs a pump as a task of trio, beside others."""

from collections.abc import Callable
from typing import Final

import trio

from .beside import Beside
from .pump import Pump

_RUNNING: Final = trio.lowlevel.RunVar[list[Beside]]("serving")


def running() -> list[Beside]:
    """Who serves sockets in this trio run: who begins adds itself, and removes itself in the end."""
    try:
        return _RUNNING.get()
    except LookupError:
        found: list[Beside] = []
        _RUNNING.set(found)
        return found


async def pumped(pump: Pump) -> None:
    """Pumps until it is cancelled, then closes every socket."""
    pump.beside = beside = running()
    beside.append(pump)
    try:
        while True:
            # It lasts until something is due: leaving one and entering another takes a third of the time that
            # waking up takes.
            with trio.CancelScope() as sleep:
                await _until_due(pump, sleep)
    finally:
        beside.remove(pump)
        pump.close()


async def _until_due(pump: Pump, sleep: trio.CancelScope) -> None:
    """Pumps until a timer is due while there is nothing else to do."""

    def plan() -> None:
        sleep.deadline = trio.current_time() + pump.seconds_left()

    pump.on_poke = plan
    while True:
        if pump.turn():
            await trio.lowlevel.checkpoint()
        else:
            plan()
            await trio.lowlevel.wait_readable(pump.fileno())


async def regularly(seconds: float, call: Callable[[], object]) -> None:
    """Calls it every so many seconds, until it is cancelled."""
    while True:
        await trio.sleep(seconds)
        call()
