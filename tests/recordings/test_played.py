"""Recorded from real clients, played back to them, and to another cluster."""

import base64
import contextlib
import gzip
import json
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from mockbroker import MockCluster, Security
from mockbroker.addresses import given as address_of
from mockbroker.names import Fault
from mockbroker.recordings.exchanges import steps
from mockbroker.recordings.file import read
from mockbroker.rig.client import Client

from ..cli.in_process import mockbroker
from ..driving.processes import line_of, started

LIMIT_S = 60.0
NOWHERE = ("--upstream", "127.0.0.1:1", "--port", "0")
QUIET = {"log_level": 0}
VALUES = [f"order {number}".encode() for number in range(4)]


def application(bootstrap: str, **access: str) -> list[tuple[bytes | None, bytes | None]]:
    """Writes, reads in a group, and commits; gives what it has read."""
    servers = {"bootstrap.servers": bootstrap, **access, **QUIET}
    producer = Producer({**servers, "enable.idempotence": True})
    for value in VALUES:
        producer.produce("t", value, b"key", partition=0)
    assert producer.flush(LIMIT_S) == 0
    settings = {**servers, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.subscribe(["t"])
    found: list[tuple[bytes | None, bytes | None]] = []
    while len(found) < len(VALUES):
        message = consumer.poll(LIMIT_S)
        assert message is not None
        assert message.error() is None
        found.append((message.key(), message.value()))
    consumer.commit(asynchronous=False)
    consumer.close()
    return found


@contextlib.contextmanager
def running(*words: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A command that serves, and the first line that it prints."""
    process = started(*words)
    try:
        yield line_of(process), process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: "subprocess.Popen[str]") -> str:
    """What it prints when it is told to end."""
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0
    return out


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What passed to a cluster of two brokers, with values."""
    path = tmp_path_factory.mktemp("recorded") / "orders.recording"
    with MockCluster(brokers=2, topics={"t": 1}) as cluster:
        words = (
            "record",
            "--upstream",
            cluster.bootstrap_servers,
            "--port",
            "0",
            "--values",
            "-o",
            str(path),
        )
        with running(*words) as (here, process):
            assert application(here) == [(b"key", each) for each in VALUES]
            assert re.search(r"\d+ requests and \d+ answers on \d+ connections", ended(process))
    return path


def test_clients_come_through_for_every_broker(recorded: Path) -> None:
    found = read(recorded)
    assert found.cut is None
    assert found.values
    apis = {one.api for kind, one in steps(found) if kind == "answer"}
    assert {"metadata", "produce", "fetch", "join_group", "offset_commit", "init_producer_id"} <= apis


def test_a_client_at_home_sees_what_the_cluster_did(recorded: Path) -> None:
    with running("replay", str(recorded), "--port", "0") as (addresses, process):
        assert application(addresses) == [(b"key", each) for each in VALUES]
        said = ended(process)
    assert re.search(r"[1-9]\d* requests answered as recorded", said)


def test_a_member_may_be_slower_than_it_was(recorded: Path) -> None:
    member = {"group_id": "g", "generation_id": 7, "member_id": "slow"}
    with running("replay", str(recorded), "--port", "0") as (addresses, process):
        host, _, port = addresses.split(",")[0].rpartition(":")
        with Client(host, int(port), "slow") as client:
            assert client.call("heartbeat", 4, member)["error_code"] == "NONE"
        assert " 0 that were not recorded" in ended(process)


def test_what_was_never_recorded_is_refused_and_told(recorded: Path) -> None:
    with running("replay", str(recorded), "--port", "0") as (addresses, process):
        host, _, port = addresses.split(",")[0].rpartition(":")
        with Client(host, int(port), "stranger") as client:
            answer = client.call("describe_groups", 5, {"groups": ["other"]})
            assert [each["error_code"] for each in answer["groups"]] == ["UNKNOWN_SERVER_ERROR"]
        said = ended(process)
    assert re.search(
        r"DescribeGroups v5 of stranger to \S+ was not recorded: UNKNOWN_SERVER_ERROR\n"
        r"0 requests answered .* 1 that were not recorded",
        said,
    )


def test_another_cluster_of_the_same_release_answers_alike(recorded: Path) -> None:
    with MockCluster(brokers=2) as cluster:
        done = mockbroker("replay", str(recorded), "--to", cluster.bootstrap_servers.split(",")[0])
    assert done.stderr == ""
    assert re.search(r"[1-9]\d* answers are as recorded, 0 differ, 0 did not come, 0 requests", done.stdout)
    assert done.exit_code == 0


def test_a_cluster_that_answers_otherwise_is_told_field_by_field(recorded: Path) -> None:
    fault: Fault = {"do": "error", "api": "OffsetCommit", "error": "GROUP_AUTHORIZATION_FAILED", "times": 1}
    with MockCluster(brokers=2, faults=[fault]) as cluster:
        done = mockbroker("replay", str(recorded), "--to", cluster.bootstrap_servers.split(",")[0])
    assert done.exit_code == 1
    assert re.search(
        r"request \d+, OffsetCommit v\d+ to \S+: topics\[0\].partitions\[0\].error_code: 'NONE' was "
        r"recorded, 'GROUP_AUTHORIZATION_FAILED' came",
        done.stdout,
    )


def test_a_capture_of_a_running_cluster_becomes_a_recording(tmp_path: Path) -> None:
    capture, path = tmp_path / "wire.pcapng", tmp_path / "file"
    with running("serve", "--port", "0", "-q", "--topic", "t", "--capture", str(capture)) as (here, process):
        host, _, port = here.split(",")[0].rpartition(":")
        with Client(host, int(port)) as client:
            client.call("metadata", 9, {"topics": [{"name": "t"}]})
        ended(process)
    done = mockbroker("record", str(capture), "-o", str(path))
    assert done.stdout == f"{path}: 1 requests and 1 answers on 1 connection\n"
    assert [(one.api, one.version) for _, one in steps(read(path))] == [("metadata", 9)] * 2
    refused = mockbroker("record", str(capture), "-o", str(path))
    assert refused.exit_code == 2
    assert "exists: choose another name, or give --overwrite" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("record", "-o", "out"), "give a packet capture, or --upstream HOST:PORT"),
        (("record", "-o", "out", "--upstream", "nowhere"), "--upstream 'nowhere': write it as HOST:PORT"),
        (("record", "-o", "out", *NOWHERE), "no broker told which brokers there are: 127.0.0.1:1: "),
        (("record", "-o", "out", *NOWHERE, "--upstream-ca", "no.pem"), "upstream_ca can't be used: "),
        (("record", "-o", "out", *NOWHERE, "--upstream-key", "no.pem"), "give upstream_certificate, too"),
        (("record", "-o", "out", *NOWHERE, "--certificate", "no.pem", "--tls"), "can't be used: "),
        (("record", "-o", "out", "a.pcap", "--upstream-tls"), "TLS is for --upstream"),
        (("record", "-o", "out", "a.pcap", "--tls"), "TLS is for --upstream"),
    ],
)
def test_what_cant_be_recorded_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = mockbroker(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_recording_stays_until_there_is_another_one(tmp_path: Path) -> None:
    path, capture = tmp_path / "out", tmp_path / "empty.pcap"
    path.write_bytes(b"the one before")
    capture.write_bytes(b"\xd4\xc3\xb2\xa1\2\0\4\0" + bytes(8) + b"\0\0\4\0\1\0\0\0")
    for source in (NOWHERE, (str(capture),)):
        done = mockbroker("record", "-o", str(path), "--overwrite", *source)
        assert done.exit_code == 2, done.stderr
    with MockCluster(brokers=1, topics={"t": 1}) as cluster:
        upstream = cluster.bootstrap_servers
        words = ("record", "--upstream", upstream, "--port", "0", "-o", str(path), "--overwrite")
        with running(*words) as (here, process):
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 2
            assert errors.endswith(f"{path} is left as it was: no client has connected to {here}\n")
        assert path.read_bytes() == b"the one before"
        with running(*words) as (here, process):
            with Client(*address_of(here, "here")) as client:
                client.call("metadata", 9, {"topics": [{"name": "t"}]})
                assert {one.api for _, one in steps(read(path))} == {"metadata"}
            ended(process)
    assert read(path).cut is None
    assert sorted(tmp_path.iterdir()) == [capture, path]


@pytest.mark.parametrize(
    ("given", "said"),
    [((), "it wants TLS: give --upstream-tls"), (("--upstream-tls",), "its certificate is not valid: ")],
    ids=["without TLS", "with another authority"],
)
def test_a_cluster_that_wants_tls_is_told(tmp_path: Path, given: tuple[str, ...], said: str) -> None:
    path = tmp_path / "out"
    with MockCluster(brokers=1, security=Security(tls=True)) as cluster:
        upstream = cluster.bootstrap_servers
        done = mockbroker("record", "-o", str(path), "--upstream", upstream, "--port", "0", *given)
    assert done.exit_code == 2
    assert f"{upstream}: {said}" in done.stderr
    assert not path.exists()


def test_tls_and_logins_pass_and_no_password_is_kept(tmp_path: Path) -> None:
    path, folder, password = tmp_path / "out", tmp_path / "files", "correct horse"
    security = Security(tls=True, sasl="PLAIN", users={"alice": password})
    settings = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(folder / "ca.pem"),
        "sasl.mechanism": "PLAIN",
        "sasl.username": "alice",
        "sasl.password": password,
    }
    with contextlib.ExitStack() as stack:
        with MockCluster(brokers=2, topics={"t": 1}, security=security) as cluster:
            upstream = cluster.bootstrap_servers.split(",")[0]
            ca = cluster.do(lambda target: target.access).ca
            words = ("record", "--upstream", upstream, "--port", "0", "-o", str(path), "--values")
            tls = ("--upstream-ca", str(ca), "--tls", "--tls-folder", str(folder))
            here, process = stack.enter_context(running(*words, *tls))
            assert line_of(process) == f"certificate authority: {folder / 'ca.pem'}"
            assert application(here, **settings) == [(b"key", each) for each in VALUES]
        address = address_of(here, "here")
        with socket.create_connection(address, LIMIT_S) as plain:
            plain.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff")
            while plain.recv(1000):
                pass
        context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        with (
            socket.create_connection(address, LIMIT_S) as plain,
            context.wrap_socket(plain, server_hostname=address[0]) as shaken,
        ):
            assert shaken.recv(1) == b""
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=LIMIT_S)
    failed, gone = errors.splitlines()
    assert failed.startswith("mockbroker record: 127.0.0.1: closed, TLS failed: ")
    assert gone.startswith(f"mockbroker record: {upstream} can't be reached: ")
    apis = {one.api for kind, one in steps(read(path)) if kind == "answer"}
    assert {"sasl_handshake", "sasl_authenticate", "produce", "fetch"} <= apis
    kept = gzip.decompress(path.read_bytes())
    frames = [json.loads(line).get("request", "") for line in kept.splitlines()[1:]]
    assert frames
    assert not any(password.encode() in base64.b64decode(each) for each in frames)


def test_what_cant_be_played_says_why(recorded: Path, tmp_path: Path) -> None:
    done = mockbroker("replay", str(recorded), "--to", "127.0.0.1:1")
    assert done.exit_code == 2
    assert "127.0.0.1:1 does not answer as a Kafka broker" in done.stderr
    done = mockbroker("replay", str(recorded), "--kafka", "3.9")
    assert done.exit_code == 2
    assert "--kafka means nothing for a recording" in done.stderr
    cut = tmp_path / "cut"
    cut.write_bytes(recorded.read_bytes()[:-200])
    with running("replay", str(cut), "--port", "0") as (addresses, process):
        done = mockbroker("replay", str(cut), "--port", addresses.split(",")[0].rpartition(":")[2])
        assert done.exit_code == 2
        assert "Choose another port, or port 0 for any free ones" in done.stderr
        assert "was cut off" in done.stderr
        ended(process)
