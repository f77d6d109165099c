"""`mockbroker record`: makes a recording of a capture, or of what passes."""

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import trio
import typer

from ..addresses import joined, several
from ..captures import frames
from ..control.access import named
from ..errors import first_of
from ..processes import ending_signals
from ..protocol.capture_files import CaptureError, read
from ..proxying.access import access
from ..proxying.options import UpstreamTls
from ..recordings.file import RecordingError, Writer
from ..recordings.passing import Direct
from ..recordings.recorder import Counts, Recorder, record
from ..security import Security
from .failing import say, say_shown


def of_capture(capture: Path, out: Path, *, values: bool) -> None:
    """CaptureError, RecordingError, OSError."""
    with capture.open("rb") as file, Output(out) as output:
        writer = Writer(output.file, values=values)
        recorder = Recorder(writer, values=values)
        try:
            record(frames(read(file)), recorder)
        except CaptureError as error:
            if not recorder.counts.requests:
                raise CaptureError(f"{capture}: {error}") from None
            say(f"mockbroker record: {capture} is read up to here: {error}")
        if not recorder.counts.requests:
            raise RecordingError(
                f"{capture} has no request of a Kafka client: is it the brokers' port that was captured, and "
                "without TLS?"
            )
        writer.finish()
        output.place()
    _sum_up(out, recorder.counts)


def passing(
    upstream: str,
    host: str,
    port: int,
    out: Path,
    *,
    values: bool,
    upstream_tls: UpstreamTls | None = None,
    security: Security | None = None,
) -> None:
    """Until a signal ends it. UpstreamError, PortInUseError, OSError; ValueError for another address and for
    files of TLS, MissingExtraError."""
    tell = functools.partial(say_shown, "record")
    brokers = several(upstream, "--upstream")
    direct = Direct(brokers, host, port, upstream_tls=upstream_tls, security=security, tell=tell)
    with ended_by():
        trio.run(_pass, direct, out, values)


async def _pass(direct: Direct, out: Path, values: bool) -> None:
    with Output(out) as output, trio.open_signal_receiver(*ending_signals()) as signals:
        # Whoever reads the file while it is written finds it there.
        writer = Writer(output.file, values=values, begins=output.place)
        recorder = Recorder(writer, values=values)
        async with trio.open_nursery() as nursery:
            found = await nursery.start(direct.run, recorder)
            here = ",".join(joined(*each) for each in found)
            typer.echo(here)
            for what, path in named(access(here, direct.tls, None, None, None)):
                typer.echo(f"{what}: {path}")
            async for _ in signals:
                nursery.cancel_scope.cancel()
                break
        if not recorder.counts.connections:
            raise RecordingError(f"{out} is left as it was: no client has connected to {here}")
        writer.finish()
    _sum_up(out, recorder.counts)


class Output:
    """A `file` beside the one that is wanted, until `place` puts it there: what was there before stays if
    nothing comes of it. Devices and pipes are written to as they are. OSError."""

    def __init__(self, out: Path) -> None:
        self._wanted = out.resolve()
        beside = out.is_file() or not out.exists()
        self._written = self._wanted.with_name(f".{out.name}.{os.getpid()}") if beside else self._wanted
        self.file = self._written.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        if self._written != self._wanted:
            self._written.unlink()

    def place(self) -> None:
        if self._written != self._wanted:
            self._written = self._written.replace(self._wanted)


def _sum_up(out: Path, counts: Counts) -> None:
    connections = f"{counts.connections} connection" + "s" * (counts.connections != 1)
    typer.echo(f"{out}: {counts.requests} requests and {counts.answers} answers on {connections}")
    if counts.lost:
        typer.echo(f"  of {len(counts.lost)} connections only a part could be read")
    if counts.unreadable:
        typer.echo(
            f"  of {counts.unreadable} requests or answers of no known API or version, only the header"
        )


@contextmanager
def ended_by() -> Iterator[None]:
    """Raises the OSError for which trio's nurseries ended."""
    try:
        yield
    except BaseExceptionGroup as group:
        one = first_of(group)
        if isinstance(one, OSError):
            raise one from None
        raise
