"""tar archives are read like the folders that are in them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import cramjam
import pytest

from mockbroker.pipeline.analysis import Analysis, analyze
from mockbroker.pipeline.report import trouble

from .readers.reading import STORIES

STORY = "kafka-7104.log"
FOUND = ["log-start-past-log-end"]


def archive(path: Path, mode: str, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, mode) as written:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            written.addfile(member, io.BytesIO(data))
    return path


def analyzed(path: Path, out: Path) -> tuple[list[str], Analysis]:
    found = analyze([path], out)
    return [each.name for each in found.incidents], found


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive(mode: str, tmp_path: Path) -> None:
    story = (STORIES / STORY).read_bytes()
    path = archive(
        tmp_path / "incident.tar", mode, {f"broker1/{STORY}": story, "broker1/notes.txt": b"Hello\n"}
    )
    names, found = analyzed(path, tmp_path / "out")
    assert names == FOUND
    (evidence, *_) = found.findings[0]["evidence"]
    assert Path(evidence["file"]).read_bytes() == story
    assert Path(evidence["file"]).relative_to(tmp_path / "out" / "unpacked" / "1") == Path(
        f"incident.tar/broker1/{STORY}"
    )
    assert [line.split("/")[-1] for line in trouble(found)][1:3] == ["notes.txt:", "    Hello"]


def test_zstd(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", "w", {STORY: (STORIES / STORY).read_bytes()})
    path.write_bytes(bytes(cramjam.zstd.compress(path.read_bytes())))
    assert analyzed(path, tmp_path / "out")[0] == FOUND


def test_what_wants_to_be_somewhere_else_is_left_out(tmp_path: Path) -> None:
    story = (STORIES / STORY).read_bytes()
    files = {"../../outside.log": story, "/etc/outside.log": story, STORY: story}
    names, found = analyzed(archive(tmp_path / "evil.tar", "w", files), tmp_path / "out")
    assert names == FOUND
    inside = tmp_path / "out" / "unpacked" / "1" / "evil.tar"
    assert list(tmp_path.rglob("outside.log")) == [inside / "etc" / "outside.log"]
    assert not Path("/etc/outside.log").exists()
    assert [(row["position"], row["detail"].split(":")[0]) for row in found.unreadable] == [(1, "left out")]


def test_an_archive_that_is_cut_off(tmp_path: Path) -> None:
    story = (STORIES / STORY).read_bytes()
    path = archive(tmp_path / "cut.tar.gz", "w:gz", {STORY: story, "noise": bytes(range(256)) * 4_000})
    path.write_bytes(path.read_bytes()[:-200])
    names, found = analyzed(path, tmp_path / "out")
    assert names == FOUND
    assert "the archive is broken" in found.unreadable[0]["detail"]
