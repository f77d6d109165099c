"""`mockbroker view`: a trace, a history or a recording in the browser."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from .failing import reported

_HISTORY: Final = b'"mockbroker-history"'
_HEAD_BYTES: Final = 1024
_TRACE: Final = "mockbroker trace"
"""For what `analyze` takes one."""


def view(
    file: Annotated[
        Path,
        typer.Argument(
            help="A trace, of `serve --trace` or `cluster.trace.write`; a history, of `explore --out`; a "
            "recording, of `record`; or the folder that `reproduce` or `analyze --out` wrote."
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port; 0: any free one.")] = 0,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Show what was at that time, such as 2026-11-23T02:21:27.354, in UTC."
        ),
    ] = None,
) -> None:
    """Show a trace, a history, a recording or an incident in the browser, at the printed address.

    Ctrl-C ends it. Exit status 2: the file is nothing of that kind.
    """
    from .viewing import event_at, view

    with reported("view"), tempfile.TemporaryDirectory() as folder:
        at_ms = None if at is None else _moment(at)
        report = _report(file)
        shown = _file(file) if report is None else _traced(file, report)
        trace = _trace(shown, Path(folder) / "trace.jsonl")
        event = None if at_ms is None else event_at(trace, at_ms)
        view(trace, report, port, lambda address: typer.echo(address + (f"#at={event}" if event else "")))


def _moment(text: str) -> int:
    """In Unix milliseconds. ValueError."""
    from ..server.start_time import milliseconds

    if (found := milliseconds(text)) is None:
        raise ValueError(f"--at is {text!r}: give a time such as 2026-11-23T02:21:27.354")
    return found


def _file(path: Path) -> Path:
    """What to show of a folder. ValueError says what to do with one that has nothing to show yet."""
    if not path.is_dir():
        return path
    if (path / "scenario.toml").exists() and not (path / "history.json").exists():
        raise ValueError(f"{path} has a scenario: `mockbroker run --trace trace.jsonl` plays it for a trace")
    return path / "history.json"


def _report(folder: Path) -> dict[str, Any] | None:
    """What `analyze` wrote to this folder; None if it did not. PipelineError."""
    if not (folder / "incidents.json").exists():
        return None
    from ..pipeline.reproduce.reading import load

    return load(folder)


def _traced(folder: Path, report: dict[str, Any]) -> Path:
    """The trace that the report was made of, with which it is shown: of several, the one that proves most.
    ValueError."""
    traces = [each["file"] for each in report["read"]["files"] if each["as"] == _TRACE]
    if not traces:
        raise ValueError(
            f"{folder} is a report of files without a trace: open {folder / 'report.html'}; `mockbroker "
            f"reproduce {folder}` makes histories of it"
        )
    # Reports of earlier versions have none.
    report.setdefault("symptoms", [])
    findings = [event["finding"] for each in report["incidents"] for event in each["events"]]
    rows = Counter(row["file"] for each in (*findings, *report["symptoms"]) for row in each["evidence"])
    report["shown"] = max(traces, key=rows.__getitem__)
    return Path(report["shown"])


def _trace(file: Path, made: Path) -> Path:
    """The trace as JSON lines: the file itself, or `made` of it. ValueError, OSError, ImportError."""
    if file.suffix == ".parquet":
        from ..trace.files import read_parquet, write_json_lines

        write_json_lines(made, read_parquet(file))
        return made
    from ..recordings.file import is_recording

    if is_recording(file):
        from .recorded_trace import write_trace

        write_trace(file, made)
        return made
    with file.open("rb") as opened:
        if _HISTORY not in opened.read(_HEAD_BYTES):
            return file
    from .replay import read_plan, simulate

    simulate(read_plan(file), made)
    return made


def register(app: typer.Typer) -> None:
    app.command(short_help="Show a trace or a history in the browser.")(view)
