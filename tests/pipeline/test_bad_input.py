"""A file that can't be read is one line in the report, and never ends the reading of the others."""

from __future__ import annotations

import gzip
import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from mockbroker.pipeline import archives
from mockbroker.pipeline.analysis import analyze
from mockbroker.pipeline.errors import PipelineError
from mockbroker.pipeline.readers import Reading, recognise, survey
from mockbroker.pipeline.readers.files import walk
from mockbroker.pipeline.report import show, trouble

from .analyzing import FOUND, STORY, TEXT, analyzed, archive


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["n" * 300], f"left out: '{'n' * 60}…': File name too long"),
        (["."], "left out: '.': Is a directory"),
        (["file", "file/inside"], "left out: 'file/inside': "),
    ],
    ids=["long", "dot", "file as folder"],
)
def test_members_that_can_not_be_files_are_left_out(names: list[str], reason: str, tmp_path: Path) -> None:
    members = [(name, b"x\n") for name in names]
    path = archive(tmp_path / "incident.tar.gz", [*members, (STORY, TEXT)])
    found, analysis = analyzed(path, tmp_path / "out")
    assert found == FOUND
    (row,) = analysis.unreadable
    assert row["file"] == str(path)
    assert row["detail"].startswith(reason)
    assert sum(f"{path}:{len(names)}: left out" in line for line in trouble(analysis)) == 1


def test_an_archive_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_LEAST_LIMIT", 1 << 20)
    bomb = [(f"zeros-{number}", bytes(1 << 18)) for number in range(8)]
    path = archive(tmp_path / "bomb.tar.gz", [(STORY, TEXT), *bomb, ("after.log", TEXT)])
    found, analysis = analyzed(path, tmp_path / "out")
    assert found == FOUND
    assert not list((tmp_path / "out").rglob("after.log"))
    assert sum(each.stat().st_size for each in (tmp_path / "out" / "unpacked").rglob("zeros-*")) <= 1 << 20
    (row,) = analysis.unreadable
    assert row["detail"].startswith("the rest is left out: the archive unpacks to more than ")


def test_an_archive_of_very_many_empty_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_LEAST_LIMIT", 1 << 20)
    path = archive(tmp_path / "many.tar.gz", [(STORY, TEXT), *((f"{number}", b"") for number in range(500))])
    _, analysis = analyzed(path, tmp_path / "out")
    assert "the rest is left out" in analysis.unreadable[0]["detail"]


def test_folders_to_which_links_lead_are_read_once(tmp_path: Path) -> None:
    here = tmp_path / "given" / "broker"
    here.mkdir(parents=True)
    (here / STORY).write_bytes(TEXT)
    for name in ("a", "b"):
        (here / name).symlink_to(".")
    (tmp_path / "given" / "a-link").symlink_to(here)
    (tmp_path / "given" / "nowhere").symlink_to(tmp_path / "missing")
    assert list(walk([tmp_path / "given"])) == [here / STORY]


@contextmanager
def writing(path: Path, data: bytes) -> Iterator[None]:
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    try:
        yield
    finally:
        writer.join()


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with writing(pipe, TEXT):
        found, analysis = analyzed(pipe, tmp_path / "out")
    assert found == FOUND
    assert [Path(each).name for each in analysis.collected.files] == ["pipe"]


def test_an_archive_through_what_the_shell_writes_for_a_command(tmp_path: Path) -> None:
    """As in `analyze <(ssh broker tar c logs)`."""
    data = archive(tmp_path / "a.tar.gz", [(STORY, TEXT)]).read_bytes()
    assert len(data) < 1 << 16, "a pipe holds it"
    end, other = os.pipe()
    try:
        os.write(other, data)
        os.close(other)
        found, _ = analyzed(Path(f"/dev/fd/{end}"), tmp_path / "out")
    finally:
        os.close(end)
    assert found == FOUND


def test_a_pipe_into_which_nobody_writes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mockbroker.pipeline.remote._PATIENCE_MS", 1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PipelineError, match="pipe: a pipe into which nobody writes"):
        analyze([tmp_path / "pipe"], tmp_path / "out")


def test_what_is_no_file_is_refused_or_left_out(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="/dev/null: neither a file, a folder nor a pipe"):
        analyze(["/dev/null"], tmp_path / "out")
    os.mkfifo(tmp_path / "pipe")
    assert list(walk([tmp_path])) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_and_folders_without_permission_are_rows(tmp_path: Path) -> None:
    given = tmp_path / "given"
    (given / "folder").mkdir(parents=True)
    (given / STORY).write_bytes(TEXT)
    (given / "secret.log").write_bytes(TEXT)
    for each in ("secret.log", "folder"):
        (given / each).chmod(0)
    try:
        found, analysis = analyzed(given, tmp_path / "out")
    finally:
        (given / "folder").chmod(0o700)
    assert found == FOUND
    assert sorted(Path(row["file"]).name for row in analysis.unreadable) == ["folder", "secret.log"]


@pytest.mark.parametrize("place", ["reading", "recognising", "in pieces"])
def test_a_reader_that_fails_ends_one_file(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / STORY).write_bytes(TEXT)
    line = b"2026-11-23 02:12:13,123 INFO [Consumer clientId=a] Resetting offset for x\n"
    (given / "bad").write_bytes(gzip.compress(line))
    (given / "worse.log").write_bytes(TEXT)
    target = {
        "reading": "mockbroker.pipeline.readers.logs.entries",
        "recognising": "mockbroker.pipeline.readers.registry.head",
        "in pieces": "mockbroker.pipeline.ahead.told",
    }[place]
    module, name = target.rsplit(".", 1)
    real = getattr(__import__(module, fromlist=[name]), name)

    def fails(path: Path, *more: object) -> object:
        if path.name in ("bad", "worse.log"):
            raise RuntimeError("a bug of ours")
        return real(path, *more)

    monkeypatch.setattr(target, fails)
    found, analysis = analyzed(given, tmp_path / "out")
    assert found == FOUND
    told = {Path(row["file"]).name: row["detail"] for row in analysis.unreadable}
    wanted = {"reading": ["bad"], "recognising": ["bad", "worse.log"], "in pieces": ["worse.log"]}[place]
    assert told == dict.fromkeys(wanted, "it could not be read: RuntimeError: a bug of ours")


@pytest.mark.parametrize(
    "bytes_",
    [b"\0", b"\xff\xfe\xfa", b"\0" * 4096, b"\x01\x02"],
    ids=["zero", "no UTF-8", "zeros", "controls"],
)
def test_some_bytes_that_are_no_text_do_not_make_a_log_unknown(bytes_: bytes, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(TEXT + b"[2026-11-23 02:12:13,123] INFO " + bytes_ + b" (x)\n" + TEXT * 20)
    reader = recognise(path)
    assert reader is not None
    assert reader.name == "broker-log"
    assert [each.kind for each in reader.read(path, Reading())]


def test_bytes_at_random_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(bytes(range(256)) * 100)
    assert survey([path]).unknown == [path]


def test_texts_from_files_are_no_orders_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / ":x: [red]\x1b[31m.txt").write_text(":x: [bold]text\x1b]0;title\x07[/bold]\n")
    (tmp_path / STORY).write_bytes(TEXT)
    _, analysis = analyzed(tmp_path, tmp_path / "out")
    printed = io.StringIO()
    show(analysis, Console(file=printed, width=200, force_terminal=True, color_system=None))
    assert r":x: [red]\x1b[31m.txt" in printed.getvalue()
    assert r"    :x: [bold]text\x1b]0;title\x07[/bold]" in printed.getvalue()
    assert "\x1b]" not in printed.getvalue()
