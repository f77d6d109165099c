"""Files in an object store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.pipeline.analysis import analyze

from .analyzing import FOUND, STORY, TEXT
from .stores import keys, s3


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of URIs: where moto's S3 is."""
    for name, value in keys("testing").items():
        monkeypatch.setenv(name, value)
    with s3() as store:
        yield store.options


def test_a_folder_of_a_bucket(options: str, tmp_path: Path) -> None:
    files, _ = fs.FileSystem.from_uri(f"s3://logs?{options}")
    files.create_dir("logs")
    with files.open_output_stream(f"logs/incident/broker1/{STORY}") as out:
        out.write(TEXT)
    for uri in (f"s3://logs/incident?{options}", f"s3://logs/incident/broker1/{STORY}?{options}"):
        out_folder = tmp_path / str(len(uri))
        found = analyze([uri], out_folder)
        assert [each.name for each in found.incidents] == FOUND
        (evidence, *_) = found.findings[0]["evidence"]
        assert Path(evidence["file"]).is_relative_to(out_folder / "fetched" / "1")


def test_what_is_not_there(options: str) -> None:
    ended = CliRunner().invoke(app, ["analyze", f"s3://nowhere/incident?{options}"])
    assert ended.exit_code == 2
    assert "s3://nowhere/incident" in ended.output
    ended = CliRunner().invoke(app, ["analyze", "gopher://somewhere/logs"])
    assert ended.exit_code == 2
    assert ended.output.splitlines()[-1].startswith("mockbroker analyze: gopher://somewhere/logs: ")
