"""`mockbroker serve` as a process."""

import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mockbroker.cli.offsets import progress
from mockbroker.dumps.offsets_files import read
from mockbroker.processes import ending_signals
from mockbroker.repeats import PRINTED
from mockbroker.trace.files import read_parquet

from ..control.asking import ask
from ..driving import wire
from ..driving.processes import finished, line_of, started


class Server:
    """A running `mockbroker serve --port 0`."""

    def __init__(self, *arguments: str) -> None:
        self.process = started("serve", "--port", "0", *arguments)
        self.first = line_of(self.process)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> tuple[int, list[str], str]:
        """Exit status, lines printed after the first, and what went to stderr."""
        self.process.send_signal(with_signal)
        assert self.process.stdout is not None
        # Not by communicate(), which loses what was read ahead with the first line.
        out = self.process.stdout.read()
        errors = self.process.communicate(timeout=60)[1]
        return self.process.returncode, out.splitlines(), errors

    def connect(self, bootstrap_servers: str) -> socket.socket:
        host, port = bootstrap_servers.split(",")[0].rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=60)


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[Server] = []
    # Else they would inherit it from tests that `nohup` started.
    ignored = signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def begin(*arguments: str) -> Server:
        servers.append(Server(*arguments))
        return servers[-1]

    yield begin
    signal.signal(signal.SIGHUP, ignored)
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_first_line_is_the_address_and_a_signal_ends_it_cleanly(
    serve: Serve, with_signal: signal.Signals
) -> None:
    server = serve("--kafka", "2.3", "--brokers", "2")
    assert len(server.first.split(",")) == 2
    with server.connect(server.first) as sock:
        sock.sendall(wire.api_versions())
        assert sock.recv(4096)
        status, lines, errors = server.stop(with_signal)
    assert status == 0
    assert "Kafka 2.3, 2 brokers, ready after" in lines[0]
    assert any("broker 1: test" in line for line in lines[1:])
    assert "Error" not in errors


def test_a_terminal_that_is_closed_leaves_a_whole_trace(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    server = serve("--brokers", "1", "--trace", str(path))
    with server.connect(server.first) as sock:
        sock.sendall(wire.api_versions())
        assert sock.recv(4096)
        server.stop(signal.SIGHUP)
    assert "request" in {event.kind for event in read_parquet(path)}


def test_nohup_is_heeded() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in ending_signals()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_quiet_prints_the_address_only(serve: Serve) -> None:
    server = serve("-q", "--topic", "orders:3")
    with server.connect(server.first) as sock:
        sock.sendall(wire.api_versions())
        assert sock.recv(4096)
        assert server.stop()[:2] == (0, [])


def test_it_says_which_faults_do_what_no_broker_does(serve: Serve) -> None:
    options = ("--fault", "reorder name=odd", "--fault", "delay ms=1")
    plain, lines = serve(*options), serve("--log", "json", *options)
    [_, told, *others] = plain.stop()[1]
    assert told.startswith(
        "fault odd, reorder after: a broker answers the requests of a connection in the order"
    )
    assert not any(line.startswith("fault") for line in others)
    [event, *_] = map(json.loads, lines.stop()[1])
    assert (event["event"], event["name"], event["why"]) == ("illegal fault", "odd", told.partition(": ")[2])


def test_json_lines_tell_of_clients_and_of_refused_requests(serve: Serve) -> None:
    server = serve("--log", "json")
    ready = json.loads(server.first)
    assert (ready["event"], ready["kafka"], ready["brokers"]) == ("serving", "4.4", 3)
    with server.connect(ready["bootstrap_servers"]) as sock:
        sock.sendall(wire.api_versions() + wire.request(999, 0, b""))
        while sock.recv(4096):
            pass
    status, lines, _ = server.stop()
    events = [json.loads(line) for line in lines]
    assert status == 0
    assert [event["event"] for event in events] == ["client", "refused", "disconnected"]
    assert "api key 999 v0" in events[1]["reason"]


@pytest.mark.parametrize("format_", ["text", "json"])
def test_refused_requests_that_are_alike_are_counted(serve: Serve, format_: str) -> None:
    server = serve("--log", format_, "--brokers", "1")
    address = server.first if format_ == "text" else json.loads(server.first)["bootstrap_servers"]
    for _ in range(50):
        with server.connect(address) as sock:
            sock.sendall(b"\x7f\xff\xff\xff")
            assert sock.recv(1) == b""
    status, lines, errors = server.stop()
    assert status == 0
    if format_ == "text":
        assert len(errors.splitlines()) == PRINTED + 1
        assert f"is what a broker takes ({50 - PRINTED} like it in " in errors
    else:
        # Another test's client that looks for a broker that ended may have found this port.
        events = [event for event in map(json.loads, lines) if event["event"] in ("refused", "repeated")]
        assert [event["event"] for event in events] == ["refused"] * PRINTED + ["repeated"]
        told = events[-1]
        assert (told["of"], told["count"]) == ("refused", 50 - PRINTED)


def test_nothing_is_imported_that_is_not_needed_to_listen() -> None:
    program = (
        "import sys, trio, mockbroker\n"
        "async def main():\n"
        "    async with mockbroker.serve():\n"
        "        print(*sorted(sys.modules))\n"
        "trio.run(main)\n"
    )
    loaded = set(finished([sys.executable, "-c", program], check=True).stdout.split())
    assert "mockbroker.server.pump" in loaded
    ours = ("mockbroker.conformance", "mockbroker.control")
    unwanted = ("kio.schema", "starlette", "hypercorn", "rich", *ours)
    packages = tuple(f"{each}." for each in unwanted)
    assert not {name for name in loaded if f"{name}.".startswith(packages)}


def test_faults_are_there_from_the_start_and_only_ctl_moves_a_manual_clock(serve: Serve) -> None:
    options = ("--fault", "disconnect api=[3,18] nth=2 name=lost", "--fault", "do=delay ms=1 topic='a b'")
    server = serve("-q", "--control", "0", *options, "--clock", "manual")
    url = line_of(server.process)
    _, faults = ask("GET", f"{url}/faults")
    assert [(each["name"], each["fault"]) for each in faults] == [
        ("lost", "disconnect before api=Metadata,ApiVersions nth=2 times=1"),
        ("1", "delay before topic=a b"),
    ]
    with server.connect(server.first) as sock:
        sock.sendall(wire.api_versions())
        assert sock.recv(4096)
        sock.sendall(wire.api_versions())
        assert sock.recv(4096) == b""
    assert ask("GET", f"{url}/faults/lost")[1]["hits"] == 1
    (before, after, later) = [
        ask(method, url + path, body)[1]["now_ms"]
        for method, path, body in (
            ("GET", "/clock", None),
            ("POST", "/clock/advance", {"by": "7d"}),
            ("GET", "/clock", None),
        )
    ]
    assert (after - before, later - after) == (7 * 86_400_000, 0)
    assert server.stop()[:2] == (0, [])


def test_what_is_advertised_is_the_address_and_where_it_listens_is_told(serve: Serve) -> None:
    server = serve("--host", "0.0.0.0", "--brokers", "2", "--advertise", "localhost")
    silent = serve("--host", "0.0.0.0", "--brokers", "1")
    assert server.first.count("localhost:") == 2
    _, lines, errors = server.stop()
    assert f"listening on {server.first.replace('localhost', '0.0.0.0')}, ready" in lines[0]
    assert errors == ""
    assert (
        "clients are told the address 0.0.0.0, which works on this machine only: give --advertise"
        in silent.stop()[2]
    )


def test_the_control_address_is_the_second_line(serve: Serve) -> None:
    server = serve("-q", "--control", "0")
    url = line_of(server.process)
    status, cluster = ask("GET", f"{url}/cluster")
    assert (status, cluster["bootstrap_servers"]) == (200, server.first)
    assert server.stop()[:2] == (0, [])


def test_offsets_of_another_cluster_are_reported(serve: Serve) -> None:
    log = Path(__file__).parents[1] / "dumps" / "recorded" / "3.9.2" / "data"
    server = serve("--offsets", str(log))
    assert len(server.first.split(",")) == 3
    status, lines, _ = server.stop()
    assert status == 0
    started = datetime.fromtimestamp(read([log]).last_ms / 1000, UTC).isoformat(timespec="milliseconds")
    assert lines[1] == (
        f"{read([log]).records} records of 6 groups in 7 partitions of the offsets topic; it is "
        f"{started.replace('+00:00', 'Z')}"
    )


def test_progress_is_told_every_two_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.9, 2.1, 2.2, 4.0, 4.5])
    tell = progress(lambda: next(times))
    for done in (1, 2, 3, 4, 5):
        tell(done * 1_000_000, 5_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "mockbroker serve: 2 of 5 MB of offsets read",
        "mockbroker serve: 5 of 5 MB of offsets read",
    ]
