"""Where `mockbroker serve` writes to may be closed, full, taken, or know no arrows: service goes on."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mockbroker import MockCluster
from mockbroker.cli import main
from mockbroker.server.failures import OutputLostError

from ..control.asking import ask
from ..driving import wire
from ..driving.clients import raw_client
from ..driving.processes import line_of, mockbroker_process, started
from ..test_errors import mockbroker_says

Serve = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts `mockbroker serve` with one broker."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        processes.append(started("serve", "--brokers", "1", *arguments, **options))
        return processes[-1]

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def port_of(process: subprocess.Popen[str]) -> int:
    return int(line_of(process).rpartition(":")[2])


def free_port() -> int:
    """One that is given to nobody who asks for any, and so stays free until it is used."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


def is_served(port: int, client_id: bytes = b"test", times: int = 1) -> None:
    while True:
        try:
            sock = socket.create_connection(("127.0.0.1", port), timeout=30)
        except ConnectionRefusedError:
            continue
        break
    with sock:
        for number in range(times):
            sock.sendall(wire.request(18, 0, b"", correlation_id=number, client_id=client_id))
            assert sock.recv(4096)


def end(process: subprocess.Popen[str]) -> str:
    """What it wrote to stderr."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    return errors


def test_stdout_that_is_closed_a_disk_that_gets_full_and_too_many_clients(
    tmp_path: Path, serve: Serve
) -> None:
    size, descriptors = 20_000, 50

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    files = [tmp_path / "trace.jsonl", tmp_path / "wire.pcapng"]
    arguments = ("--trace", str(files[0]), "--capture", str(files[1]))
    # Bytecode larger than that would be cut off, and break who imports it next.
    whole = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = serve("--port", "0", *arguments, preexec_fn=limited, env=whole)
    port = port_of(process)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdout = None
    is_served(port, times=200)
    is_served(port, b"another")
    lines = [process.stderr.readline() for _ in range(3)]
    assert sum("File too large; the cluster goes on without it" in line for line in lines) == 2
    assert "mockbroker serve: can't write to stdout: Broken pipe; serving goes on\n" in lines
    assert all(0 < file.stat().st_size <= size for file in files)
    with contextlib.ExitStack() as stack:
        for _ in range(descriptors):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        full = "no more clients are accepted for now (47 of 50 files are open): raise `ulimit -n`"
        assert process.stderr.readline() == f"mockbroker serve: {full}\n"
    is_served(port)
    assert end(process) == ""


def test_too_many_clients_leave_files_for_the_control_api(serve: Serve) -> None:
    descriptors = 64

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    process = serve("--port", "0", "--quiet", "--control", "0", preexec_fn=limited)
    port = port_of(process)
    assert process.stderr is not None
    url = line_of(process)
    control = urlsplit(url)
    with contextlib.ExitStack() as stack:
        good = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        for _ in range(descriptors):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        assert "no more clients are accepted for now (" in process.stderr.readline()
        for _ in range(5):
            assert ask("GET", f"{url}/cluster")[0] == 200
        good.sendall(wire.api_versions())
        assert good.recv(4096)
        for _ in range(descriptors):
            stack.enter_context(socket.create_connection((control.hostname, control.port), timeout=30))
        told = process.stderr.readline()
        assert told == (
            "no more clients are accepted over HTTP for now (Too many open files): raise `ulimit -n`\n"
        )
        good.sendall(wire.api_versions())
        assert good.recv(4096)
    assert ask("GET", f"{url}/cluster")[0] == 200
    is_served(port)
    assert "accept" not in end(process).replace(told.strip(), "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(serve: Serve) -> None:
    port = free_port()
    with open("/dev/full", "w") as full:
        process = serve("--port", str(port), "--trace", "/dev/full", "--capture", "/dev/full", stdout=full)
        is_served(port, times=3)
    lines = end(process).splitlines()
    assert sorted(lines) == [
        "can't write /dev/full any more: No space left on device; the cluster goes on without it",
        "can't write /dev/full any more: No space left on device; the cluster goes on without it",
        "mockbroker serve: can't write to stdout: No space left on device; serving goes on",
    ]


@pytest.mark.parametrize("arguments", ["serve --trace", "serve --capture", "capture"])
def test_a_file_that_exists(
    tmp_path: Path, arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kept"
    path.write_text("precious")
    monkeypatch.setattr(sys, "argv", ["mockbroker", *arguments.split(), str(path), "--port", "0"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    line = capsys.readouterr().err.rstrip()
    assert line == f"mockbroker serve: {path} exists: choose another name, or give --overwrite"
    assert path.read_text() == "precious"


TOKEN = "s3cret"


def test_a_file_that_may_be_overwritten_a_terminal_that_knows_ascii_and_a_token(
    tmp_path: Path, serve: Serve
) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("old")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "MOCKBROKER_CONTROL_TOKEN": TOKEN}
    arguments = ("--port", "0", "--control", "0", "--trace", str(path), "--overwrite")
    process = serve(*arguments, env=environment)
    port = port_of(process)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    is_served(port, "é\x1b[31m[red]\n✓".encode())
    status, line = mockbroker_says("ctl", "--url", url, "brokers", "list")
    assert (status, "MOCKBROKER_CONTROL_TOKEN" in line) == (1, True)
    told = mockbroker_process("ctl", "--token", TOKEN, "--url", url, "brokers", "list", check=True)
    assert "running" in told.stdout
    process.send_signal(signal.SIGTERM)
    out = process.stdout.read()
    assert end(process) == ""
    assert out.splitlines()[1].endswith(" -> broker 1: \\xe9\\x1b[31m[red]\\n\\u2713")
    assert path.read_text().startswith('{"schema": "mockbroker-trace"')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_in_python_a_lost_capture_is_raised_at_the_end() -> None:
    cluster = MockCluster(brokers=1, capture="/dev/full").start()
    with raw_client(cluster) as client:
        assert client.call("metadata", 1)["brokers"]
    with pytest.raises(OutputLostError, match="can't write /dev/full any more"):
        cluster.stop()


def test_the_text_of_events_is_text() -> None:
    with MockCluster(brokers=1, trace=True) as cluster:
        with raw_client(cluster, "a\x1b]0;b\x07\u202e[/]") as client:
            client.call("metadata", 1)
        text = str(cluster.trace)
    assert "a\\x1b]0;b\\x07\\u202e[/]" in text
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_command_whose_output_is_lost_fails_in_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = mockbroker_process("policies", "--json", stdout=full)
    assert (done.returncode, done.stderr) == (
        2,
        "mockbroker: can't write to stdout: No space left on device\n",
    )
