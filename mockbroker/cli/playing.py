"""`mockbroker replay`: plays a recording, to clients or to another cluster."""

from pathlib import Path

import trio
import typer

from ..addresses import joined, several
from ..processes import ending_signals
from ..recordings.file import Recording, read
from ..recordings.serving import Brokers, Played
from .failing import say
from .recording import ended_by


def play(path: Path, to: str | None, host: str, port: int) -> bool:
    """Whether answers differ. RecordingError, OSError; ValueError if `to` is no address."""
    recording = read(path)
    if recording.cut is not None:
        say(f"mockbroker replay: {path} was cut off, {recording.cut}: what is before that is played")
    if to is not None:
        return _send(recording, to)
    with ended_by():
        trio.run(_serve, recording, host, port)
    return False


async def _serve(recording: Recording, host: str, port: int) -> None:
    played = Played(lambda line: typer.echo(line))
    brokers = Brokers(recording, host, port, played)
    with trio.open_signal_receiver(*ending_signals()) as signals:
        async with trio.open_nursery() as nursery:
            here = await nursery.start(brokers.run)
            typer.echo(",".join(joined(*each) for each in here))
            async for _ in signals:
                nursery.cancel_scope.cancel()
                break
    counts = played.counts
    typer.echo(
        f"{counts['answered']} requests answered as recorded, {counts['again']} with an answer given before, "
        f"{counts['different']} that differ, {counts['unrecorded']} that were not recorded; "
        f"{len(brokers.matcher.unused)} of {len(brokers.matcher.all)} recorded requests never came"
    )


def _send(recording: Recording, to: str) -> bool:
    from ..recordings.sending import send

    return send(recording, several(to, "--to"), typer.echo)
