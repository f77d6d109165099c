"""`python -m mockbroker.conformance.differential`: what a mock answers differently from a real broker."""

import traceback
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...progress import counted
from ...rig.downloads import RealBrokerError
from . import recordings
from .generating.drawing import families
from .recordings import Recorded
from .replaying import replay
from .running import Found, Pair, run

app = typer.Typer(add_completion=False, rich_markup_mode=None)
out = Console(emoji=False, highlight=False)
err = Console(emoji=False, stderr=True, highlight=False)
_SHOWN = 5


@app.command(help=__doc__)
def main(
    kafka: Annotated[str, typer.Option(help="Exact release to start (Java; Maven on first use).")] = "4.4.0",
    sequences: Annotated[int, typer.Option(min=1, help="How many sequences to play.")] = 2000,
    brokers: Annotated[int, typer.Option(min=1, max=3, help="How many, at both sides: 1 or 3.")] = 1,
    malformed: Annotated[bool, typer.Option("--malformed", help="Change bytes of some requests.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same sequences.")] = 1,
    first: Annotated[int, typer.Option(min=0, help="Number of the first sequence of the seed.")] = 0,
    family: Annotated[
        str | None,
        typer.Option(
            help="Only data, transactions, groups, admin, access, consumer-groups, share-groups, "
            "streams-groups; of 3 also replicas, faults."
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="A real broker that runs already.")
    ] = None,
    replayed: Annotated[
        Path | None, typer.Option("--replay", help="Play the sequences of such a file to a mock alone.")
    ] = None,
    saved: Annotated[
        Path | None, typer.Option("--out", help="File for the shrunk differences (JSON).")
    ] = None,
) -> None:
    """Exit status 0: no difference twice over; 1: some; 2: could not start."""
    if replayed is not None:
        _replay(replayed)
    if malformed and brokers > 1:
        # Changed bytes could leave it to the controller where replicas are put, which is random.
        raise typer.BadParameter("malformed requests are for one broker", param_hint="--malformed")
    if family is not None and family not in families(brokers):
        known = ", ".join(families(brokers))
        raise typer.BadParameter(f"with that many brokers, one of {known}", param_hint="--family")
    try:
        with err.status(f"Kafka {kafka}: fetching and starting"):
            pair = Pair(kafka, against, brokers, acls=family == "access")
            pair.__enter__()
    except RealBrokerError as error:
        err.print(f"[red]error:[/red] {escape(str(error))}")
        raise typer.Exit(2) from None
    try:
        with counted("differential", "sequences", sequences, err) as so_far:

            def report(found: dict[str, Found], unstable: Counter[str]) -> None:
                differing = sum(each.count for each in found.values())
                text = f"{differing} differ in {len(found)} ways, {unstable.total()} once only"
                so_far.advance(what=text)
                if saved:
                    _save(saved, kafka, found)

            found, unstable = run(
                pair, seed, sequences, first=first, malformed=malformed, family=family, report=report
            )
    finally:
        failed = _stopped(pair)
    _show(found, unstable, sequences)
    raise typer.Exit(1 if found or failed else 0)


def _stopped(pair: Pair) -> bool:
    """Stops both brokers; whether the mock has failed meanwhile, of which it tells."""
    try:
        pair.__exit__()
    except Exception as error:
        err.print(f"[red]the mock failed:[/red] {escape(''.join(traceback.format_exception(error)))}")
        return True
    return False


def _replay(file: Path) -> None:
    """Needs no Java."""
    try:
        recorded = recordings.load(file)
    except (OSError, ValueError, KeyError) as error:
        err.print(f"[red]error:[/red] {escape(str(file))}: {escape(str(error))}")
        raise typer.Exit(2) from None
    different = 0
    for each, difference in replay(recorded):
        if difference is None:
            continue
        different += 1
        out.print(f"[red]different[/red] {escape(each.sequence.name)}: {escape(difference.signature)}")
        for path, expected, got in difference.parts[:_SHOWN]:
            out.print(f"    {escape(f'{path}: expected {expected!r}, got {got!r}')}")
    out.print(f"{len(recorded) - different} sequences answered as recorded, {different} differently")
    raise typer.Exit(1 if different else 0)


def _save(file: Path, kafka: str, found: dict[str, Found]) -> None:
    kept = [
        Recorded(
            kafka,
            each.signature,
            each.sequence,
            each.expected,
            each.difference.parts if each.difference else (),
            each.count,
        )
        for each in found.values()
        if each.sequence is not None
    ]
    recordings.save(file, kept)


def _show(found: dict[str, Found], unstable: Counter[str], sequences: int) -> None:
    table = Table("count", "difference (real != mock)", "first in", "steps")
    for each in sorted(found.values(), key=lambda each: -each.count):
        steps = str(len(each.sequence.steps)) if each.sequence else ""
        table.add_row(str(each.count), escape(each.signature), each.names[0], steps)
    if found:
        out.print(table)
    for signature, count in unstable.most_common():
        out.print(f"once only: {count} × {escape(signature)}")
    out.print(
        f"{sum(each.count for each in found.values())} of {sequences} sequences differ, in {len(found)} ways"
    )


if __name__ == "__main__":
    app()
