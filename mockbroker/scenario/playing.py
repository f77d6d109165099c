"""Plays a scenario while a command runs."""

import functools
import inspect
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

import trio

from ..control import faults, hints
from ..control.target import Target
from ..errors import ConflictError, NotThereError
from ..faults import Fault
from ..server.serving import serve
from ..tokens import VARIABLE
from .scenario import Action, Check, Scenario, Step

CHECKS_FAILED: Final = 3
"""The exit status when the command was content, and the scenario is not."""
_LOOK_AGAIN_S: Final = 0.02
_GRACE_S: Final = 5.0

Tell = Callable[[str], None]


class Player:
    """Plays one scenario once; `tell` hears what happens."""

    def __init__(self, scenario: Scenario, tell: Tell) -> None:
        self._scenario = scenario
        self._tell = tell
        self._failures: list[str] = []
        self._undone: list[Step] = []
        self._rules: dict[str, Fault] = {}
        self._fired: set[str] = set()
        self._process: trio.Process | None = None
        self._signal: int | None = None
        """The first that came."""
        self._started = time.monotonic()

    async def play(self, command: Sequence[str]) -> int:
        """The exit status: the command's, or CHECKS_FAILED. ValueError, OSError before it is started.

        SIGINT and SIGTERM are for the command while it runs, and end everything at any other time; the status
        is then the command's, or that of a signal.
        """
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            status, failure = 0, None
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._heed, signals, nursery.cancel_scope)
                try:
                    status = await self._play(command)
                except Exception as error:
                    failure = _alone(error)
                nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        if self._signal is None:
            return status
        return status if status not in (0, CHECKS_FAILED) else 128 + self._signal

    async def _play(self, command: Sequence[str]) -> int:
        # The command has it in its environment too.
        token = os.environ.get(VARIABLE) or None
        async with serve(control=True, control_token=token, **self._scenario.cluster) as served:
            self._say(f"Kafka {served.cluster.release} at {served.bootstrap_servers}")
            target = served.target
            for fault in self._scenario.faults:
                target.do(faults.add, name=fault.name, **fault.given)
                rule = self._rules[fault.name] = target.fault(fault.name)
                rule.on_hit.append(functools.partial(self._touched, fault.name))
            environment = {
                **os.environ,
                "BOOTSTRAP_SERVERS": served.bootstrap_servers,
                "MOCKBROKER_CONTROL": served.control_url or "",
            }
            status = await self._run(command, environment, target)
            self._say(f"the command ended with status {status}")
            if self._signal is not None:
                self._say(f"{signal.Signals(self._signal).name} came: nothing is checked")
                return status
            await self._check(target)
            if status or self._failures:
                for hint in target.do(hints.hints):
                    self._say(hint)
        return status or (CHECKS_FAILED if self._failures else 0)

    async def _run(self, command: Sequence[str], environment: dict[str, str], target: Target) -> int:
        process = self._process = await trio.lowlevel.open_process(list(command), env=environment)
        try:
            async with trio.open_nursery() as nursery:
                self._started = time.monotonic()
                self._undone = list(self._scenario.steps)
                for step in self._scenario.steps:
                    nursery.start_soon(self._step, step, target)
                await process.wait()
                nursery.cancel_scope.cancel()
        finally:
            await _end(process)
        code = process.returncode
        assert code is not None
        return 128 - code if code < 0 else code

    async def _heed(self, signals: AsyncIterator[int], everything: trio.CancelScope) -> None:
        async for each in signals:
            again = self._signal is not None
            self._signal = self._signal or each
            process = self._process
            if process is None or process.returncode is not None:
                everything.cancel()
            elif again:
                # Who asks twice means it.
                process.terminate()
            elif each != signal.SIGINT or not _has_terminal():
                process.send_signal(signal.Signals(each))

    async def _step(self, step: Step, target: Target) -> None:
        try:
            if step.fault is not None:
                await faults.wait(target, step.fault, step.hits, float("inf"))
            await trio.sleep(step.after_s)
            self._undone.remove(step)
            await _do(step.action, target)
        except (ValueError, NotThereError, ConflictError) as error:
            self._fail(f"{step.action.text}: {error}")
        else:
            self._say(step.action.text)

    async def _check(self, target: Target) -> None:
        for step in self._undone:
            if not step.optional:
                self._fail(f"{step.action.text}: its time did not come")
        for name, rule in self._rules.items():
            if rule.hits:
                self._say(f"fault {name!r} touched {rule.hits} request" + "s" * (rule.hits != 1))
            elif not rule.optional:
                self._fail(f"fault {name!r} never fired: {rule}: {rule.why}")
        for check in self._scenario.checks:
            await self._look(check, target)

    async def _look(self, check: Check, target: Target) -> None:
        answer: Any = None
        with trio.move_on_after(check.within_s):
            while True:
                try:
                    answer = await _do(check.action, target)
                except (ValueError, NotThereError, ConflictError) as error:
                    answer = str(error)
                if fits(check.expect, answer):
                    self._say(f"{check.action.text}: as expected")
                    return
                if not check.within_s:
                    break
                await trio.sleep(_LOOK_AGAIN_S)
        self._fail(f"{check.action.text}: expected {check.expect}, but it is {answer}")

    def _touched(self, name: str) -> None:
        # All later ones are counted at the end.
        if self._rules[name].hits and name not in self._fired:
            self._fired.add(name)
            self._say(f"fault {name!r} fired: {self._rules[name]}")

    def _fail(self, text: str) -> None:
        self._failures.append(text)
        self._say(f"FAILED {text}")

    def _say(self, text: str) -> None:
        self._tell(f"{time.monotonic() - self._started:6.2f} s  {text}")


def fits(expected: Any, found: Any) -> bool:
    """Whether the fields of objects are as expected, and the expected entries of lists are there."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and fits(value, found[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(found, list) and all(
            any(fits(wanted, entry) for entry in found) for wanted in expected
        )
    return bool(expected == found)


async def _do(action: Action, target: Target) -> Any:
    result = target.do(action.operation.function, **action.arguments)
    return await result if inspect.isawaitable(result) else result


def _has_terminal() -> bool:
    """Whether this process and the command stand in the foreground of a terminal: its Ctrl-C reaches both."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _alone(error: Exception) -> Exception:
    """What stands alone in groups that nurseries have made of it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        (error,) = error.exceptions
    return error


async def _end(process: trio.Process) -> None:
    """Nothing that was started stays, whatever went wrong."""
    if process.returncode is None:
        with trio.CancelScope(shield=True):
            process.terminate()
            with trio.move_on_after(_GRACE_S):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
