"""The command that a scenario runs."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from mockbroker.scenario.command import Command
from mockbroker.scenario.playing import Ended


async def one(came: signal.Signals) -> AsyncIterator[int]:
    yield came


@pytest.mark.trio
async def test_a_signal_that_comes_before_it_is_known_that_the_command_runs_is_for_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_process = trio.lowlevel.open_process
    runs, known = trio.Event(), trio.Event()

    async def open_slowly(*arguments: Any, **options: Any) -> trio.Process:
        process = await open_process(*arguments, **options)
        runs.set()
        await known.wait()
        return process

    monkeypatch.setattr(trio.lowlevel, "open_process", open_slowly)
    command = Command(["sleep", "600"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(command.start, os.environ)
        await runs.wait()
        nursery.start_soon(command.heed, one(signal.SIGTERM), nursery.cancel_scope)
        await wait_all_tasks_blocked()
        known.set()
    assert not nursery.cancel_scope.cancelled_caught
    assert await command.wait() == Ended(128 + signal.SIGTERM, signal.SIGTERM)
