"""tar archives are read like the folders that are in them."""

from __future__ import annotations

from pathlib import Path

import cramjam
import pytest

from mockbroker.pipeline.report import trouble

from .analyzing import FOUND, STORY, TEXT, analyzed, archive


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive(mode: str, tmp_path: Path) -> None:
    members = [(f"broker1/{STORY}", TEXT), ("broker1/notes.txt", b"Hello\n")]
    path = archive(tmp_path / "incident.tar", members, mode)
    names, found = analyzed(path, tmp_path / "out")
    assert names == FOUND
    (evidence, *_) = found.findings[0]["evidence"]
    assert Path(evidence["file"]).read_bytes() == TEXT
    assert Path(evidence["file"]).relative_to(tmp_path / "out" / "unpacked" / "1") == Path(
        f"incident.tar/broker1/{STORY}"
    )
    assert [line.split("/")[-1] for line in trouble(found)][1:3] == ["notes.txt:", "    Hello"]


def test_zstd(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar", [(STORY, TEXT)], "w")
    path.write_bytes(bytes(cramjam.zstd.compress(path.read_bytes())))
    assert analyzed(path, tmp_path / "out")[0] == FOUND


def test_what_wants_to_be_somewhere_else_is_left_out(tmp_path: Path) -> None:
    members = [(name, TEXT) for name in ("../../outside.log", "/etc/outside.log", STORY)]
    names, found = analyzed(archive(tmp_path / "evil.tar", members, "w"), tmp_path / "out")
    assert names == FOUND
    inside = tmp_path / "out" / "unpacked" / "1" / "evil.tar"
    assert list(tmp_path.rglob("outside.log")) == [inside / "etc" / "outside.log"]
    assert not Path("/etc/outside.log").exists()
    assert [(row["position"], row["detail"].split(":")[0]) for row in found.unreadable] == [(1, "left out")]


def test_an_archive_that_is_cut_off(tmp_path: Path) -> None:
    path = archive(tmp_path / "cut.tar.gz", [(STORY, TEXT), ("noise", bytes(range(256)) * 4_000)])
    path.write_bytes(path.read_bytes()[:-200])
    names, found = analyzed(path, tmp_path / "out")
    assert names == FOUND
    assert "the archive is broken" in found.unreadable[0]["detail"]
