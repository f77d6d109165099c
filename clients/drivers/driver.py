"""A driver as a process: calls and answers, events, and what becomes of a driver that fails."""

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import trio

from . import busy, lines
from .left_out import LeftOut
from .lines import Answer, DriverFailedError, Hello, OverdueError
from .names import Names

Heard = Callable[[str, Mapping[str, Any]], None]
"""Gets an event: its name and all of its fields."""
Then = Callable[[Answer], None]
"""Gets an answer before what the driver wrote after it is read. Who waits for the answer goes on later. It is
called again if the client tells of a record again."""
START_LIMIT_S: Final = 60.0
_GRACE_S: Final = 10.0
_UNTIMED_S: Final = 60.0
_STACKS_S: Final = 2.0
_CHUNK: Final = 65_536
_KEPT: Final = 65_536
_END_S: Final = 2.0


class Driver:
    """A running driver. `open_driver` starts one."""

    def __init__(self, process: trio.Process, requests: trio.abc.SendStream) -> None:
        self.hello: Hello
        self.grace_s = _GRACE_S
        """How much longer than its own timeout a call may take."""
        self.untimed_s = _UNTIMED_S
        """How long a call may take that has no timeout of its own."""
        self.left_out = LeftOut()
        self.printed: Callable[[str], None] = lambda _: None
        """Gets each line that the process prints."""
        self.begins: Callable[[str, str], None] = lambda handle, verb: None
        """Gets the handle and the verb of each call, before the process does."""
        self.names = Names("")
        """What topics, groups and transactional ids are called in the cluster."""
        self._process, self._requests = process, requests
        self._next = 0
        self._pending: dict[int, _Pending] = {}
        self._heard: dict[str, Heard] = {}
        self._told: dict[str, dict[int, _Pending]] = {}
        """Records of which the client has told, by handle: it may tell again."""
        self._output: deque[bytes] = deque()
        self._kept = 0
        self._failure: str | None = None
        self._greeted = trio.Event()
        self._ending = False
        self._writing = trio.Lock()

    @property
    def failed(self) -> bool:
        """Whether no more calls are possible: it died, or it can't be understood."""
        return self._failure is not None

    @property
    def output(self) -> str:
        """The last that it printed, to stdout or to stderr."""
        return b"".join(self._output).decode(errors="replace")

    def listen(self, handle: str, heard: Heard) -> None:
        """`heard` is called with each event of a handle."""
        self._heard[handle] = heard

    def forget(self, handle: str) -> None:
        """Ends `listen`."""
        self._heard.pop(handle, None)
        self._told.pop(handle, None)

    async def send(
        self,
        verb: str,
        handle: str,
        timeout_ms: int | None = None,
        then: Then | None = None,
        **fields: Any,
    ) -> "Pending":
        """Begins a call. `then` is not called if the driver fails. Of the `config` of `open`, what the driver
        doesn't take is left out. DriverFailedError."""
        if "config" in fields:
            fields["config"] = self._taken(fields["kind"], fields["config"])
        if timeout_ms is not None:
            fields["timeout_ms"] = timeout_ms
        (pending,) = await self._send(verb, handle, [fields], timeout_ms, then)
        return pending

    async def send_many(
        self, verb: str, handle: str, many: Iterable[Mapping[str, Any]]
    ) -> "Sequence[Pending]":
        """Begins calls of one verb, which have these fields, at once. DriverFailedError."""
        return await self._send(verb, handle, many)

    async def _send(
        self,
        verb: str,
        handle: str,
        many: Iterable[Mapping[str, Any]],
        timeout_ms: int | None = None,
        then: Then | None = None,
    ) -> "list[Pending]":
        self._check()
        self.begins(handle, verb)
        begun: list[_Pending] = []
        requests: list[bytes] = []
        for fields in many:
            self._next += 1
            begun.append(_Pending(verb, handle, timeout_ms, then))
            self._pending[self._next] = begun[-1]
            named = self.names.there(fields)
            requests.append(lines.encode({"id": self._next, "do": verb, "handle": handle, **named}))
        async with self._writing:
            try:
                await self._requests.send_all(b"".join(requests))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                await self._wait_for_end()
                self._check()
        return [Pending(self, each) for each in begun]

    async def call(
        self,
        verb: str,
        handle: str,
        timeout_ms: int | None = None,
        then: Then | None = None,
        **fields: Any,
    ) -> Answer:
        """Makes a call and waits for its answer. DriverFailedError, OverdueError."""
        return await (await self.send(verb, handle, timeout_ms, then, **fields)).wait()

    def _taken(self, kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
        taken = self.hello.taken(kind, config)
        self.left_out.note(kind, config.keys() - taken.keys())
        return taken

    def _check(self) -> None:
        if self._failure is not None:
            raise DriverFailedError(self._failure)

    def _fail(self, text: str) -> None:
        if self._failure is None:
            last = self.output.strip()
            self._failure = f"{text}; its last output:\n{last}" if last else f"{text}; it printed nothing"
        self._greeted.set()
        for each in self._pending.values():
            each.over()
        self._pending.clear()

    async def wait(self, pending: "_Pending") -> Answer:
        limit_s = self.grace_s
        untimed = pending.timeout_ms is None or pending.verb in self.hello.untimed
        limit_s += self.untimed_s if untimed else (pending.timeout_ms or 0) / 1000
        if self.hello.begins and pending.timeout_ms is not None:
            with trio.move_on_after(self.untimed_s):
                await pending.begun.wait()
        began, before = trio.current_time(), busy.busy_s(self._process.pid)
        with trio.move_on_after(limit_s):
            await pending.done.wait()
        if not pending.done.is_set():
            waited = trio.current_time() - began
            spent = busy.since(before, busy.busy_s(self._process.pid))
            total = None if spent is None else sum(spent)
            raise OverdueError(pending.verb, waited, total, await self._stacks())
        if pending.answer is None:
            self._check()
            raise DriverFailedError(f"no answer to {pending.verb}")
        return pending.answer

    async def _stacks(self) -> str:
        """What it prints when it is asked for its stacks; empty if it can't."""
        name = self.hello.stack
        if name is None or self._process.returncode is not None:
            return ""
        before = len(self.output)
        self._process.send_signal(signal.Signals[name])
        with trio.move_on_after(_STACKS_S):
            while True:
                await trio.sleep(_STACKS_S / 10)
                if len(self.output) > before:
                    break
        return self.output[before:].strip()

    async def greet(self) -> None:
        """Waits for its first line. DriverFailedError."""
        with trio.move_on_after(START_LIMIT_S):
            await self._greeted.wait()
        if not self._greeted.is_set():
            self._fail(f"it has not said hello within {START_LIMIT_S:.0f} s")
        self._check()

    async def read_answers(self, answers: trio.abc.ReceiveStream) -> None:
        rest = b""
        async for chunk in answers:
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                if self._failure is None:
                    try:
                        self._take(lines.decode(self.names.here(line)))
                    except (ValueError, TypeError, KeyError) as error:
                        self._fail(f"it does not speak the protocol: {error}")
        await self._wait_for_end()

    def _take(self, line: dict[str, Any]) -> None:
        if not self._greeted.is_set():
            self.hello = lines.hello(line)
            self._greeted.set()
        elif line.get("event") == "begins":
            if (begun := self._pending.get(line["id"])) is not None:
                begun.begun.set()
        elif "event" in line:
            heard = self._heard.get(line.get("handle", ""))
            if heard is not None:
                heard(line["event"], line)
        else:
            answer, number = lines.answer(line), line.get("id", -1)
            pending = self._pending.pop(number, None) or self._told_of(number)
            if pending is None:
                return
            pending.answer = pending.answer or answer
            pending.over()
            if pending.then is not None:
                pending.then(answer)
                if pending.verb == "produce":
                    self._told.setdefault(pending.handle, {})[number] = pending

    def _told_of(self, number: int) -> "_Pending | None":
        """A record of which the client has told, if somebody wants to know of it again. ValueError if there
        was no such call."""
        for told in self._told.values():
            if number in told:
                return told[number]
        if not 0 < number <= self._next:
            raise ValueError(f"nothing has the id of this answer: {number}")
        return None

    async def read_output(self, stream: trio.abc.ReceiveStream) -> None:
        """Reads all that it prints, so that it never blocks, and keeps the last of it."""
        rest = b""
        async for chunk in stream:
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                self.printed(line.decode(errors="replace"))
            self._output.append(bytes(chunk))
            self._kept += len(chunk)
            while self._kept > _KEPT and len(self._output) > 1:
                self._kept -= len(self._output.popleft())

    async def _wait_for_end(self) -> None:
        with trio.move_on_after(_END_S):
            await self._process.wait()
        status = self._process.returncode
        if not self._ending:
            await trio.sleep(0)  # what it printed last may still be under way
            how = "it has closed its descriptors" if status is None else f"it ended with status {status}"
            if status is not None and status < 0:
                how = f"it was ended by {signal.Signals(-status).name}"
            self._fail(how)

    async def busiest(self, time_s: float) -> float:
        """For which part of that time one of its threads runs, or waits for a processor: from 0 to 1, and 0
        where the system does not tell it."""
        began, before = trio.current_time(), busy.busy_s(self._process.pid)
        await trio.sleep(time_s)
        spent = busy.since(before, busy.busy_s(self._process.pid))
        return max(spent or [0.0]) / (trio.current_time() - began)

    def refused(self) -> busy.Refused:
        """How long its threads wait for a processor from now on."""
        return busy.Refused(self._process.pid)

    def kill(self) -> None:
        """Ends the process at once, as `kill -9` does. No more calls are possible."""
        self._process.kill()

    def hold(self) -> None:
        """The process stands still until it is let go."""
        self._process.send_signal(signal.SIGSTOP)

    def let_go(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def end(self) -> None:
        """Ends the process, whatever it is at."""
        self._ending = True
        with contextlib.suppress(trio.BrokenResourceError):
            await self._requests.aclose()
        if self._failure is None and not self._pending:
            with trio.move_on_after(_END_S):
                await self._process.wait()
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


class _Pending:
    __slots__ = ("answer", "begun", "done", "handle", "then", "timeout_ms", "verb")

    def __init__(self, verb: str, handle: str, timeout_ms: int | None, then: Then | None) -> None:
        self.verb, self.handle, self.timeout_ms, self.then = verb, handle, timeout_ms, then
        self.answer: Answer | None = None
        self.begun, self.done = trio.Event(), trio.Event()

    def over(self) -> None:
        self.begun.set()
        self.done.set()


class Pending:
    """A call that was begun."""

    def __init__(self, driver: Driver, pending: _Pending) -> None:
        self._driver, self._pending = driver, pending

    @property
    def answered(self) -> bool:
        return self._pending.answer is not None

    async def wait(self) -> Answer:
        """DriverFailedError, OverdueError."""
        return await self._driver.wait(self._pending)


@contextlib.asynccontextmanager
async def open_driver(
    command: Sequence[str], environment: Mapping[str, str] | None = None, output: Path | None = None
) -> AsyncIterator[Driver]:
    """Starts a driver, waits for its hello, and ends it with the block. OSError, DriverFailedError.

    What it prints is appended to the file `output`, if there is one, and not kept.
    """
    reads, requests = os.pipe()
    answers, writes = os.pipe()
    numbers = {lines.REQUESTS: str(reads), lines.ANSWERS: str(writes)}
    async with contextlib.AsyncExitStack() as opened:
        to = await opened.enter_async_context(trio.lowlevel.FdStream(requests))
        from_ = await opened.enter_async_context(trio.lowlevel.FdStream(answers))
        printed: Any = subprocess.PIPE if output is None else opened.enter_context(output.open("ab"))
        try:
            process = await trio.lowlevel.open_process(
                list(command),
                stdin=open_nothing(opened),
                stdout=printed,
                stderr=printed,
                pass_fds=(reads, writes),
                env={**os.environ, **(environment or {}), **numbers},
                start_new_session=True,
            )
        finally:
            os.close(reads)
            os.close(writes)
        driver = Driver(process, to)
        async with trio.open_nursery() as nursery:
            for stream in filter(None, (process.stdout, process.stderr)):
                nursery.start_soon(driver.read_output, stream)
            nursery.start_soon(driver.read_answers, from_)
            try:
                await driver.greet()
                yield driver
            finally:
                with trio.CancelScope(shield=True):
                    await driver.end()
                nursery.cancel_scope.cancel()


def open_nothing(opened: contextlib.AsyncExitStack) -> Any:
    """A stdin that is at its end."""
    return opened.enter_context(open(os.devnull, "rb"))
