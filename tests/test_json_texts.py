"""JSON that is nested deep ends no reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mockbroker.cli.given import fields
from mockbroker.clients.hunt import writing
from mockbroker.json_texts import read_json
from mockbroker.pipeline.errors import PipelineError
from mockbroker.pipeline.readers import read
from mockbroker.pipeline.reproduce import reading
from mockbroker.plan_files import PlanError
from mockbroker.simulation.plan import Plan
from mockbroker.trace.events import SCHEMA_VERSION
from mockbroker.trace.files import SCHEMA, TraceError, read_json_lines

DEEP = "[" * 100_000 + "]" * 100_000
TRACE = f'{{"schema": "{SCHEMA}", "version": {SCHEMA_VERSION}}}\n'
OF_DOCKER = '{"log": "2026-11-23 02:12:13,123 INFO started\\n", "time": "2026-11-23T02:12:13.123Z"}\n'


def test_it_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="it is nested too deep"):
        read_json(DEEP)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'{TRACE}{{"kind": "request", "body": {DEEP}}}\n', "ValueError: it is nested too deep"),
        (f'{OF_DOCKER * 2}{{"log": {DEEP}}}\n', "it is not JSON: it is nested too deep"),
        (OF_DOCKER * 2 + '{"log": ' * 900 + "1" + "}" * 900 + "\n", "it has no message, or no time"),
        (f'offset: 1 position: 0 key: {{"type":"2","data":{DEEP}}} payload: 1\n', ""),
        (f'{{"key": null, "value": {DEEP}}}\n', "no JSON from character 0"),
    ],
    ids=["trace", "wrapped", "wrapped names", "dump", "console"],
)
def test_a_line_that_is_nested_deep_is_one_row(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    rows = [each for each in read(path) if each.kind == "unreadable"]
    assert len(rows) <= 1
    assert all(reason in str(each.detail) for each in rows)


def _trace(path: Path) -> object:
    return list(read_json_lines(path))


def _history(path: Path) -> object:
    return Plan.from_json(path.read_text())


@pytest.mark.parametrize(
    ("reads", "error", "before"),
    [
        (_trace, TraceError, ""),
        (_trace, TraceError, TRACE),
        (_history, PlanError, ""),
        (reading.read, PipelineError, ""),
        (writing.read, ValueError, ""),
    ],
    ids=["trace", "event", "history", "incidents", "plan"],
)
def test_a_file_that_is_nested_deep_is_refused(
    reads: Callable[[Path], object], error: type[Exception], before: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text(before + DEEP)
    with pytest.raises(error):
        reads(path)


def test_a_value_that_is_nested_deep_is_text() -> None:
    assert fields([f"value={DEEP}"]) == {"value": DEEP}
