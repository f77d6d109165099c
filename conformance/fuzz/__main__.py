"""`python -m mockbroker.conformance.fuzz`: sends malformed requests, and checks that the broker survives
them."""

import enum
import os
import queue
import resource
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from ...progress import counted
from . import good, recorded, served, shards
from .dialogue import Finding
from .largest import MOST_ENTRIES
from .modes import INPUTS, MODES, USUAL
from .playing import play
from .steps import read

Mode = enum.Enum("Mode", {name.upper(): name for name in MODES})  # type: ignore[misc]
_MEMORY: Final = 2_000_000 * 1024

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, help=__doc__)
out = Console(emoji=False, highlight=False, soft_wrap=True, markup=False)
err = Console(emoji=False, stderr=True, highlight=False, markup=False)


@app.command()
def run(
    inputs: Annotated[int, typer.Option(min=1, help="About how many requests.")] = 500_000,
    first: Annotated[int, typer.Option(min=0, help="The number of the first session, and its seed.")] = 0,
    mode: Annotated[list[Mode] | None, typer.Option(help="Only this; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes.")] = os.cpu_count() or 1,
    memory: Annotated[int, typer.Option(help="Address space of each in bytes; 0 for any.")] = _MEMORY,
    write: Annotated[Path, typer.Option(help="Where sessions that go wrong are written.")] = Path("found"),
) -> None:
    """Plays sessions of a hundred requests each, with consecutive seeds.

    With --first it continues where it was stopped. Exit status 1 if something went wrong.
    """
    modes = [each.value for each in mode or map(Mode, USUAL)]
    count = -(-inputs // INPUTS)
    write.mkdir(parents=True, exist_ok=True)
    found: Counter[str] = Counter()
    began, done = time.monotonic(), 0
    try:
        for report in _reports(first, first + count, min(jobs, count), modes, memory, write):
            done += report.inputs
            if report.signature:
                found[report.signature] += 1
                if found[report.signature] == 1:
                    out.print(f"{report.text.strip()}\n{report.file or f'session {report.number}'}\n")
    except KeyboardInterrupt:
        out.print("stopped")
    for text, times in found.most_common():
        out.print(f"{times} x {text}")
    seconds = time.monotonic() - began
    what = f"{len(found)} kinds of findings" if found else "nothing found"
    out.print(f"{done} inputs in {seconds:.0f} s, {what}; go on with --first {first + count}")
    if found:
        raise typer.Exit(1)


def _reports(
    first: int, end: int, jobs: int, modes: list[str], memory: int, write: Path
) -> Iterator[shards.Report]:
    said: queue.Queue[shards.Report | None] = queue.Queue()

    def work(shard: shards.Shard) -> None:
        try:
            for report in shard.reports():
                said.put(report)
        finally:
            said.put(None)

    all_shards = [shards.Shard(first + job, end, jobs, modes, memory or None, write) for job in range(jobs)]
    threads = [threading.Thread(target=work, args=(shard,), daemon=True) for shard in all_shards]
    for thread in threads:
        thread.start()
    with counted("fuzz", "sessions", end - first, err) as so_far:
        running = jobs
        while running:
            report = said.get()
            if report is None:
                running -= 1
                continue
            so_far.advance(bool(report.inputs))
            yield report


@app.command("served")
def served_command(
    inputs: Annotated[int, typer.Option(min=1, help="About how many requests.")] = 20_000,
    first: Annotated[int, typer.Option(min=0, help="The number of the first session, and its seed.")] = 0,
    mode: Annotated[list[Mode] | None, typer.Option(help="Only this; may be repeated.")] = None,
    memory: Annotated[int, typer.Option(help="Address space of the server in bytes; 0 for any.")] = _MEMORY,
    stall: Annotated[
        float, typer.Option(help="The longest that the good client may wait, in seconds.")
    ] = 1.0,
    p99: Annotated[
        float, typer.Option(help="The longest that 99 of 100 of its answers may take, in seconds.")
    ] = good.PATIENCE_SECONDS,
    entries: Annotated[
        int, typer.Option(min=1, help="Entries of the largest requests, in the mode that has them.")
    ] = MOST_ENTRIES,
    kept: Annotated[
        int, typer.Option(help="MB that may be kept once connections and topics are gone.")
    ] = shards.KEPT_BYTES >> 20,
    recording: Annotated[bool, typer.Option(help="With a trace and a packet capture.")] = False,
) -> None:
    """Sends the requests of the sessions to a serving process, over sockets.

    Exit status 1 if it dies, fails, keeps memory, or makes a good client wait.
    """
    modes = [each.value for each in mode or map(Mode, USUAL)]
    try:
        limits = served.Limits(memory, stall, p99, kept << 20)
        result = served.run(first, inputs, modes, limits, recording=recording, most_entries=entries)
    except Finding as finding:
        out.print(str(finding))
        raise typer.Exit(1) from None
    out.print(f"{result.inputs} inputs, {result.beside.answers} good answers: {served.figures(result)}")


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A session that was written.")],
    memory: Annotated[int, typer.Option(help="Address space in bytes; 0 for any.")] = _MEMORY,
) -> None:
    """Plays a session again. Exit status 1 if something goes wrong."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        session = read(file)
    except (OSError, ValueError) as error:
        err.print(f"error: {error}")
        raise typer.Exit(2) from None
    finding = play(session)
    out.print(str(finding) if finding else f"{len(session.steps)} steps, and all is well")
    raise typer.Exit(1 if finding else 0)


@app.command()
def record() -> None:
    """Records again what real clients send."""
    recorded.record()


@app.command("good", hidden=True)
def good_command(host: str, port: int, pid: int, end: int) -> None:
    good.go_on(host, port, pid, end)


@app.command(hidden=True)
def shard(first: int, end: int, step: int, modes: str, memory: int, write: Path) -> None:
    shards.run(first, end, step, modes.split(","), memory or None, write)


@app.command(hidden=True)
def journal(mode: str, number: int, memory: int, file: Path) -> None:
    shards.keep_journal(mode, number, memory, file)


if __name__ == "__main__":
    app()
