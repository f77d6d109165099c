"""The command that runs while a scenario is played, and the signals that are passed on to it."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import IO, Final

import trio

from ..processes import ending_signals
from ..trace import Event
from .playing import CHECKS_FAILED, Ended, Player, Tell
from .scenario import Scenario

_GRACE_S: Final = 5.0


async def run(
    scenario: Scenario, command: Sequence[str], tell: Tell, listener: Callable[[Event], None] | None = None
) -> int:
    """Returns the exit status: the command's, or CHECKS_FAILED. ValueError, OSError before it is started.
    A `listener` hears the whole trace.

    SIGINT, SIGTERM and SIGHUP go to the command while it runs, and end everything at any other time; the
    status is then the command's, or that of a signal.
    """
    running = Command(command)
    with trio.open_signal_receiver(*ending_signals()) as signals:
        status, failure = 0, None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(running.heed, signals, nursery.cancel_scope)
            try:
                status = await Player(scenario, tell, listener).play(running)
            except Exception as error:
                failure = _alone(error)
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if running.signal is None:
        return status
    return status if status not in (0, CHECKS_FAILED) else 128 + running.signal


class Command:
    """A command as a process, which runs once. `signal` is the first signal that came. What it prints goes to
    a file, if one is given, and what it says of errors to `errors`, or there too."""

    def __init__(
        self, command: Sequence[str], output: IO[bytes] | None = None, errors: IO[bytes] | None = None
    ) -> None:
        self._command, self._output, self._errors = command, output, errors or output
        self._process: trio.Process | None = None
        self._starting = trio.Lock()
        self.signal: signal.Signals | None = None

    async def start(self, environment: Mapping[str, str]) -> None:
        """OSError."""
        async with self._starting:
            self._process = await trio.lowlevel.open_process(
                list(self._command), env=environment, stdout=self._output, stderr=self._errors
            )

    async def wait(self) -> Ended:
        """How it ended: with 128 plus the number of the signal, if one ended it."""
        assert self._process is not None
        code = await self._process.wait()
        return Ended(128 - code if code < 0 else code, self.signal)

    async def heed(self, signals: AsyncIterator[int], everything: trio.CancelScope) -> None:
        """Passes signals on while the command runs; at any other time they cancel `everything`."""
        async for number in signals:
            came = signal.Signals(number)
            again = self.signal is not None
            self.signal = self.signal or came
            # The process may already run, and have written something, before `open_process` returns.
            async with self._starting:
                process = self._process
            if process is None or process.returncode is not None:
                everything.cancel()
            elif again:
                # Whoever asks twice means it.
                process.terminate()
            elif came is not signal.SIGINT or not _has_terminal():
                process.send_signal(came)

    async def end(self) -> None:
        """Ends the process if it was started, whatever went wrong."""
        await self.end_within(_GRACE_S)

    async def end_within(self, limit_s: float) -> bool:
        """Ends it, and returns whether it needed no more than SIGTERM and so many seconds."""
        process = self._process
        if process is None or process.returncode is not None:
            return True
        with trio.CancelScope(shield=True):
            process.terminate()
            with trio.move_on_after(limit_s):
                await process.wait()
            if process.returncode is not None:
                return True
            process.kill()
            await process.wait()
        return False


def _has_terminal() -> bool:
    """Whether this process and the command are in the foreground of a terminal, whose Ctrl-C reaches both."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _alone(error: Exception) -> Exception:
    """The only exception in groups that nurseries have made of it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        (error,) = error.exceptions
    return error
