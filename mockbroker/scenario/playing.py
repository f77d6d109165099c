"""Plays a scenario while something else runs."""

import functools
import inspect
import os
import time
from collections.abc import Callable, Mapping, Sequence
from signal import Signals
from typing import Any, Final, NamedTuple, Protocol

import trio

from ..control import faults, hints
from ..control.target import Target
from ..errors import ConflictError, NotThereError
from ..faults import Fault
from ..server.serving import serve
from ..tokens import VARIABLE
from ..trace import Event
from .scenario import Action, Check, Moment, Scenario, Step

CHECKS_FAILED: Final = 3
"""The exit status if the command succeeded, but the scenario's checks failed."""
_LOOK_AGAIN_S: Final = 0.02

Tell = Callable[[str], None]


class Ended(NamedTuple):
    """How something ended, and the signal that ended it early, if there was one."""

    status: int
    signal: Signals | None = None


class Meanwhile(Protocol):
    """What runs while a scenario is played."""

    async def start(self, environment: Mapping[str, str]) -> None:
        """OSError."""

    async def wait(self) -> Ended:
        """Returns when it has ended by itself."""

    async def end(self) -> None:
        """Ends it completely, whatever it is doing."""


class Player:
    """Plays one scenario once; `tell` is told what happens, and a `listener` the whole trace. `beside` is
    what people call that which runs meanwhile."""

    def __init__(
        self,
        scenario: Scenario,
        tell: Tell,
        listener: Callable[[Event], None] | None = None,
        beside: str = "the command",
    ) -> None:
        self._scenario = scenario
        self._tell = tell
        self._listener = listener
        self._beside = beside
        self.failures: list[str] = []
        """What has failed so far."""
        self._undone: list[Check | Step] = []
        self._rules: dict[str, Fault] = {}
        self._fired: set[str] = set()
        self._illegal: set[str] = set()
        self._started = time.monotonic()

    async def play(self, meanwhile: Meanwhile) -> int:
        """Returns the exit status: that of `meanwhile`, or CHECKS_FAILED. ValueError, OSError before that is
        started."""
        # The command has it in its environment too.
        token = os.environ.get(VARIABLE) or None
        traced = self._listener is not None
        async with serve(control=True, control_token=token, trace=traced, **self._scenario.cluster) as served:
            if self._listener is not None:
                served.pump.trace.attach(self._listener)
            served.pump.be_eager()
            self._say(f"Kafka {served.cluster.release} at {served.bootstrap_servers}")
            target = served.target
            environment = {
                **os.environ,
                "BOOTSTRAP_SERVERS": served.bootstrap_servers,
                "MOCKBROKER_CONTROL": served.control_url or "",
            }
            ended = await self.perform(target, meanwhile, environment)
            self._say(f"{self._beside} ended with status {ended.status}")
            if ended.signal is not None:
                self._say(f"{ended.signal.name} came: nothing is checked")
                return ended.status
            await self.check(target)
            if ended.status or self.failures:
                for hint in target.do(hints.hints):
                    self._say(hint)
        return ended.status or (CHECKS_FAILED if self.failures else 0)

    async def perform(self, target: Target, meanwhile: Meanwhile, environment: Mapping[str, str]) -> Ended:
        """Adds the faults, starts `meanwhile`, and does what is due until that has ended. FaultError,
        ConflictError, OSError before it is started."""
        for fault in self._scenario.faults:
            target.do(faults.add, name=fault.name, **fault.given)
            rule = self._rules[fault.name] = target.fault(fault.name)
            rule.on_hit.append(functools.partial(self._touched, fault.name))
            self._tell_illegal(fault.name)
        return await self._run(meanwhile, environment, target)

    async def _run(self, meanwhile: Meanwhile, environment: Mapping[str, str], target: Target) -> Ended:
        await meanwhile.start(environment)
        try:
            async with trio.open_nursery() as nursery:
                self._started = time.monotonic()
                together = self._together()
                self._undone = [each for all_then in together.values() for each in all_then]
                for moment, all_then in together.items():
                    nursery.start_soon(self._do_all, moment, all_then, target)
                ended = await meanwhile.wait()
                nursery.cancel_scope.cancel()
        finally:
            await meanwhile.end()
        return ended

    def _together(self) -> Mapping[Moment, Sequence[Check | Step]]:
        """By moment, what is due then: first checks, then steps, in the order of the file."""
        both: list[Check | Step] = [*self._scenario.checks, *self._scenario.steps]
        due: dict[Moment, list[Check | Step]] = {}
        for each in both:
            if each.moment is not None:
                due.setdefault(each.moment, []).append(each)
        return due

    async def _do_all(self, moment: Moment, due: Sequence[Check | Step], target: Target) -> None:
        try:
            if moment.fault is not None:
                await faults.wait(target, moment.fault, moment.hits, float("inf"))
        except (NotThereError, ConflictError) as error:
            for each in due:
                self._fail(f"{each.action.text}: {error}")
            return
        await trio.sleep(moment.after_s)
        for each in due:
            if isinstance(each, Check):
                await self._look(each, target)
                self._undone.remove(each)
            else:
                self._undone.remove(each)
                await self._step(each, target)

    async def _step(self, step: Step, target: Target) -> None:
        try:
            await _do(step.action, target)
        except (ValueError, NotThereError, ConflictError) as error:
            self._fail(f"{step.action.text}: {error}")
        else:
            self._say(step.action.text)

    async def check(self, target: Target) -> None:
        """Looks, once all is over, for what was not done, for faults that never fired, and at the checks."""
        for each in self._undone:
            if isinstance(each, Check):
                self._fail(f"{each.action.text}: {self._beside} ended before this was checked")
            elif not each.optional:
                self._fail(f"{each.action.text}: {self._beside} ended before this step was due")
        for name, rule in self._rules.items():
            self._tell_illegal(name)
            if rule.hits:
                self._say(f"fault {name!r} touched {rule.hits} request" + "s" * (rule.hits != 1))
            elif not rule.optional:
                self._fail(f"fault {name!r} never fired: {rule}: {rule.why}")
        for check in self._scenario.checks:
            if check.moment is None:
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
        # All later hits are counted at the end.
        if self._rules[name].hits and name not in self._fired:
            self._fired.add(name)
            self._say(f"fault {name!r} fired: {self._rules[name]}")

    def _tell_illegal(self, name: str) -> None:
        """Some faults are known to be illegal from the start, others once a request of some version came."""
        if (why := self._rules[name].illegal) and name not in self._illegal:
            self._illegal.add(name)
            self._say(f"fault {name!r}: {why}")

    def _fail(self, text: str) -> None:
        self.failures.append(text)
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
