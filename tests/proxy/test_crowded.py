"""Many clients of a proxy that is a process of its own."""

import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from benchmarks.apis import api_versions
from benchmarks.process import open_files
from benchmarks.proxied import proxied
from benchmarks.wire import Connection, Writer
from mockbroker import MockCluster
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.waiting import wait_for

from ..driving.processes import line_of, started

MOST_MB = 4


@pytest.fixture
def proxy() -> Iterator["subprocess.Popen[str]"]:
    with MockCluster(brokers=1) as cluster:
        process = started("proxy", "--upstream", cluster.bootstrap_servers, "--port", "0", "-q")
        yield process
        process.kill()
        process.communicate()


def test_it_keeps_nothing_of_clients_that_have_left() -> None:
    first, *_, last = proxied(asking=200, idle=50, rounds=3, tell=lambda _: None)
    assert first.answers == last.answers == 400
    assert last.there_mb - first.there_mb < MOST_MB
    assert last.left_mb - first.left_mb < MOST_MB


def test_where_no_file_is_left_others_go_on(proxy: "subprocess.Popen[str]") -> None:
    servers = line_of(proxy)
    with Connection(servers) as early:
        api_versions(early)
        before = open_files(proxy.pid)
        limit = before + 30
        resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (limit, limit))
        asks = Writer(ApiKey.API_VERSIONS, 0, flexible=False).done()
        with ExitStack() as crowd:
            for _ in range(limit):
                crowd.enter_context(Connection(servers)).socket.sendall(asks)
            assert proxy.stderr is not None
            assert "too many files are open" in proxy.stderr.readline()
            assert api_versions(early)
        wait_for("an end of all others", lambda: open_files(proxy.pid) <= before, 60)
        with Connection(servers) as late:
            assert api_versions(early) == api_versions(late)
    proxy.send_signal(signal.SIGTERM)
    assert proxy.communicate(timeout=60)[1] == ""
    assert proxy.returncode == 0
