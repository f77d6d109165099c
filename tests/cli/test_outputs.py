"""Where `mockbroker serve` writes to may be closed, full, taken, or know no arrows: service goes on."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.conformance.client import Client
from mockbroker.server.failures import OutputLostError

from ..server import wire
from ..test_errors import mockbroker_says

Serve = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts `mockbroker serve` with one broker."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "mockbroker", "serve", "--brokers", "1", *arguments]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        started.append(subprocess.Popen(command, **options))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline().rpartition(":")[2])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


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


def test_stdout_that_is_closed(serve: Serve) -> None:
    process = serve("--port", "0")
    port = port_of(process)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    for client_id in (b"a", b"b"):
        is_served(port, client_id)
    assert end(process) == "mockbroker serve: can't write to stdout: Broken pipe; serving goes on\n"


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


def test_a_disk_that_gets_full(tmp_path: Path, serve: Serve) -> None:
    limit = 20_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    files = [tmp_path / "trace.jsonl", tmp_path / "wire.pcapng"]
    arguments = ("--trace", str(files[0]), "--capture", str(files[1]))
    process = serve("--port", "0", *arguments, preexec_fn=limited)
    is_served(port_of(process), times=200)
    errors = end(process).splitlines()
    assert len(errors) == 2
    assert all("File too large; the cluster goes on without it" in line for line in errors)
    assert all(0 < file.stat().st_size <= limit for file in files)


def test_a_terminal_that_knows_ascii_and_a_client_that_knows_more(serve: Serve) -> None:
    process = serve("--port", "0", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    is_served(port_of(process), "é\x1b[31m[red]\n✓".encode())
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    out = process.stdout.read()
    assert end(process) == ""
    assert out.splitlines()[1].endswith(" -> broker 1: \\xe9\\x1b[31m[red]\\n\\u2713")


@pytest.mark.parametrize("arguments", ["serve --trace", "serve --capture", "capture"])
def test_a_file_that_exists(tmp_path: Path, arguments: str) -> None:
    path = tmp_path / "kept"
    path.write_text("precious")
    status, line = mockbroker_says(*arguments.split(), str(path), "--port", "0")
    assert status == 2
    assert line == f"mockbroker serve: {path} exists: choose another name, or --overwrite it"
    assert path.read_text() == "precious"


def test_a_file_that_may_be_overwritten(tmp_path: Path, serve: Serve) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("old")
    process = serve("--port", "0", "--trace", str(path), "--overwrite")
    is_served(port_of(process))
    assert end(process) == ""
    assert path.read_text().startswith('{"schema": "mockbroker-trace"')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_in_python_a_lost_capture_is_raised_at_the_end() -> None:
    cluster = MockCluster(brokers=1, capture="/dev/full").start()
    host, port = cluster.bootstrap_servers.split(":")
    with Client(host, int(port)) as client:
        assert client.call("metadata", 1)["brokers"]
    with pytest.raises(OutputLostError, match="can't write /dev/full any more"):
        cluster.stop()


def test_the_text_of_events_is_text() -> None:
    with MockCluster(brokers=1, trace=True) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        with Client(host, int(port), client_id="a\x1b]0;b\x07\u202e[/]") as client:
            client.call("metadata", 1)
        text = str(cluster.trace)
    assert "a\\x1b]0;b\\x07\\u202e[/]" in text
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_command_whose_output_is_lost_fails_in_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mockbroker", "policies", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        2,
        "mockbroker: can't write to stdout: No space left on device\n",
    )
