"""Ctrl-C: no traceback, status 130, nothing that goes on running, and what was found is kept."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.simulation import workers
from mockbroker.simulation.files import write_json_lines

from ..driving.processes import line_of, mockbroker_process, started

Start = Callable[..., "subprocess.Popen[str]"]
_PATIENCE_S = 60.0


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts `mockbroker …` as the leader of a process group of its own, without a terminal."""
    processes: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> "subprocess.Popen[str]":
        process = started(
            *arguments,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            # Whoever runs the tests in the background may have it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, errors = process.communicate(timeout=_PATIENCE_S)
    assert "Traceback" not in errors
    return process.returncode, out, errors


def nobody_is_left(group: int) -> bool:
    limit = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def exploring(start: Start, tmp_path: Path) -> "subprocess.Popen[str]":
    """`mockbroker explore`, once it has started its processes."""
    process = start("explore", "--seeds", "1000000", "--workers", "2", "--out", str(tmp_path))
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    limit = time.monotonic() + _PATIENCE_S
    while len(children.read_text().split()) < 3 and time.monotonic() < limit:
        time.sleep(0.01)
    return process


@needs_proc
def test_explore_ends_with_its_processes(start: Start, tmp_path: Path) -> None:
    process = exploring(start, tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    status, _, errors = ended(process)
    assert (status, "interrupted after" in errors) == (130, True)
    assert nobody_is_left(process.pid)


@needs_proc
def test_its_processes_end_when_it_is_killed(start: Start, tmp_path: Path) -> None:
    process = exploring(start, tmp_path)
    process.kill()
    process.wait(_PATIENCE_S)
    assert nobody_is_left(process.pid)


def test_explore_tells_and_keeps_what_it_found_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = workers._chunk, 0

    def chunk(given: Any) -> list[dict[str, Any]]:
        nonlocal calls
        calls += 1
        if calls == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return real(given)

    monkeypatch.setattr(workers, "_chunk", chunk)
    options = f"--seeds 1000 --first 100 --workers 1 --fixed both --out {tmp_path}".split()
    done = CliRunner().invoke(app, ["explore", *options])
    each = workers.CHUNK
    assert done.exit_code == 130
    told = f"interrupted after {3 * each} of 2,000 histories"
    assert (
        f"{told}; to continue: the same command with --first {100 + each} --seeds {1000 - each}"
        in done.output
    )
    assert f"{3 * each} histories, " in done.output
    [file] = (tmp_path / "runs").iterdir()
    assert file.name == f"part-00000100-{99 + 2 * each:08}-{3 * each}.parquet"


def test_without_pyarrow_runs_are_json_lines_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = CliRunner().invoke(app, ["explore", "--seeds", "5", "--workers", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "; for Parquet: pip install " in done.output
    assert "[parquet]'" in done.output
    [file] = (tmp_path / "runs").iterdir()
    assert file.name == "part-00000000-00000004-5.jsonl"
    assert len(file.read_text().splitlines()) == 5


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_json_lines(tmp_path / "x.jsonl", [{"seed": object()}])
    assert not (tmp_path / "x.jsonl").exists()


HANDLES = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print("up", flush=True)
time.sleep(60)
"""


def test_run_leaves_its_checks_out_when_the_command_was_interrupted(start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('[[check]]\ndo = "brokers list"\nexpect = [{ id = 9 }]\n')
    process = start("run", str(scenario), "--", sys.executable, "-c", HANDLES)
    assert line_of(process) == "up"
    process.send_signal(signal.SIGINT)
    status, _, errors = ended(process)
    assert (status, "FAILED" in errors, "SIGINT came: nothing is checked" in errors) == (130, False, True)
    assert nobody_is_left(process.pid)


def test_run_ends_a_command_that_hears_nothing_at_the_second_time(start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text("")
    deaf = HANDLES.replace("lambda *_: sys.exit(0)", "lambda *_: print('heard', flush=True)")
    process = start("run", str(scenario), "--", sys.executable, "-c", deaf)
    assert line_of(process) == "up"
    process.send_signal(signal.SIGINT)
    assert line_of(process) == "heard"
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 128 + signal.SIGTERM
    assert nobody_is_left(process.pid)


def test_run_ends_while_it_checks(start: Start, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('[[check]]\ndo = "brokers list"\nexpect = [{ id = 9 }]\nwithin = "1h"\n')
    process = start("run", str(scenario), "--", "true")
    assert process.stderr is not None
    while "the command ended" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130


def test_a_command_that_can_not_be_started_is_one_line(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text("")
    program = tmp_path / "program"
    program.write_text("no program")
    program.chmod(0o755)
    done = mockbroker_process("run", str(scenario), "--", str(program))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Exec format error" in done.stderr


@needs_proc
@pytest.mark.parametrize("there", [False, True])
def test_analyze_leaves_no_half_report(start: Start, tmp_path: Path, there: bool) -> None:
    """Nor the folder, unless it was there before."""
    log, out = tmp_path / "server.log", tmp_path / "out"
    told = "[2018-06-23 00:45:37,339] INFO Incrementing log start offset of partition X-3 to 116753\n"
    log.write_text(told + "[2018-06-23 00:45:37,340] INFO Nothing that anybody searches for\n" * 2_500_000)
    if there:
        out.mkdir()
    process = start("analyze", str(log), "--out", str(out))
    assert process.stderr is not None
    while "MB of" not in (said := process.stderr.readline()):
        assert said
    os.killpg(process.pid, signal.SIGINT)
    status, _, _ = ended(process)
    assert status == 130
    assert (out.exists(), list(out.rglob("*"))) == (there, [])
    assert nobody_is_left(process.pid)
