"""The trace of a running cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..errors import WaitTimeoutError
from ..trace import Event, Trace
from ..trace.decisions import for_people
from ..trace.events import DETAILS
from ..trace.files import write_json_lines, write_parquet
from ..trace.finding import check, fits
from . import waiting
from .waiting import WAIT_S

if TYPE_CHECKING:
    from ..names import EventKind

__tracebackhide__ = True

T = TypeVar("T")


class Run(Protocol):
    """Runs a function in the thread in which a trace is written."""

    def __call__(self, function: Callable[[Any], T]) -> T: ...


class TraceControl:
    """What has happened in the cluster, and waiting for what will. `refuse_to_block` is told what to await
    instead, and raises BlockingCallError where a wait would never end."""

    def __init__(self, run: Run, refuse_to_block: Callable[[str], None], trace: Trace) -> None:
        self._run = run
        self._refuse_to_block = refuse_to_block
        self._trace = trace

    def events(self, kind: "EventKind | None" = None, **wanted: Any) -> list[Event]:
        """The events so far, of a kind (`request`, `answer`, `leader`, …) and with the wanted values. Without
        a kind, `replica`, `producer`, `member`, `share-session`, `appeared` and `keyframe` are left out.

        ValueError for an unknown kind or field.
        """
        return self._run(lambda _: list(self._trace.find(kind, **wanted)))

    def wait(
        self, kind: "EventKind | None" = None, count: int = 1, timeout: float = WAIT_S, **wanted: Any
    ) -> Event:
        """Waits for the `count`-th event of that kind and with those values, which may have happened already.

        WaitTimeoutError says what happened instead; ValueError as for `events`; BlockingCallError where
        asyncio or trio runs: await `wait_async` there.
        """
        self._refuse_to_block("trace.wait_async(...)")
        wait = _Wait(self._trace, kind, count, wanted)
        waiting.until(wait.done, self._trace.listeners, timeout)
        return wait.event()

    async def wait_async(
        self, kind: "EventKind | None" = None, count: int = 1, timeout: float = WAIT_S, **wanted: Any
    ) -> Event:
        """Like `wait`, under asyncio and trio."""
        wait = _Wait(self._trace, kind, count, wanted)
        await waiting.until_async(wait.done, self._trace.listeners, timeout)
        return wait.event()

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Calls `listener` with each future event that `events` would tell, in the cluster's thread. Call the
        result to end that."""

        def forward(event: Event) -> None:
            if event.kind not in DETAILS:
                listener(event)

        self._run(lambda _: self._trace.listeners.append(forward))
        return lambda: self._run(lambda _: self._forget(forward))

    def _forget(self, listener: Callable[[Event], None]) -> None:
        # A listener that raised has been removed already.
        if listener in self._trace.listeners:
            self._trace.listeners.remove(listener)

    def write(self, path: str | Path) -> None:
        """Writes all events so far to a file, as Parquet if it ends in `.parquet` (this needs
        `mockbroker[parquet]`), else as JSON lines.

        ImportError, OSError.
        """
        target, events = Path(path), self._run(lambda _: self._trace.whole())
        if target.suffix == ".parquet":
            write_parquet(target, events)
            return
        write_json_lines(target, events)

    def __str__(self) -> str:
        return "\n".join(map(str, self.events()))


class _Wait:
    """A wait for the `count`-th event of a kind and with the wanted values. ValueError for a kind or a field
    that no event has."""

    def __init__(self, trace: Trace, kind: str | None, count: int, wanted: dict[str, Any]) -> None:
        check(kind, wanted)
        self._trace, self._kind, self._count, self._wanted = trace, kind, count, wanted

    def done(self) -> bool:
        return len(self._found()) >= self._count

    def event(self) -> Event:
        """The event. WaitTimeoutError if it has not happened."""
        found, kind = self._found(), self._kind
        if len(found) >= self._count:
            return found[self._count - 1]
        events = [event for event in list(self._trace.events) if event.kind not in DETAILS]
        shown = events if kind == "decision" else for_people(events)
        last = "\n  ".join(["the last events were:", *map(str, shown[-10:])])
        if not shown:
            last = "nothing has happened since the trace began (with trace=True it begins with the cluster)"
        looked_for = " ".join([kind or "event", *(f"{k}={v!r}" for k, v in self._wanted.items())])
        raise WaitTimeoutError(f"{looked_for}: {len(found)} of {self._count} happened; {last}")

    def _found(self) -> list[Event]:
        return [event for event in list(self._trace.events) if fits(event, self._kind, self._wanted)]


__all__ = ["TraceControl"]
