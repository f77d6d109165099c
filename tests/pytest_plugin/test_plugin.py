"""The plugin as users meet it: pytest in a process of its own, with small test files."""

import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

import mockbroker
from mockbroker.pytest_plugin.options import OPTIONS

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "mockbroker.pytest_plugin")
ROOT = Path(mockbroker.__file__).parent.parent
HEAD = """
import pytest
from confluent_kafka.admin import AdminClient

def ask(cluster):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    return admin.list_topics(timeout=20).topics
"""


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs pytest on a test file, with warnings as errors."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(source: str, *args: str, conftest: str = "", loops: Collection[str] = ()) -> pytest.RunResult:
        if conftest:
            pytester.makeconftest(conftest)
        pytester.makepyfile(HEAD + source)
        others = [f"-pno:{loop}" for loop in ("asyncio", "anyio", "trio") if loop not in loops]
        return pytester.runpytest_subprocess(*PLUGIN, "-Werror", *others, *args)

    return run


def test_a_test_gets_the_cluster_of_its_markers_the_nearest_of_each_option(run: Run) -> None:
    result = run(
        """
pytestmark = pytest.mark.mockbroker(kafka="3.9", topics={"orders": 2}, brokers=1)

@pytest.mark.mockbroker(kafka="2.3")
class TestOld:
    @pytest.mark.mockbroker(brokers=2)
    def test_one(self, mock_cluster):
        release, brokers = mock_cluster.run(lambda core: (str(core.release), len(core.brokers)))
        assert (release, brokers) == ("2.3", 2)
        assert len(ask(mock_cluster)["orders"].partitions) == 2

def test_other(mock_cluster, mock_cluster_factory):
    assert str(mock_cluster.run(lambda core: core.release)) == "3.9"
    other = mock_cluster_factory(kafka="1.0")
    assert str(other.run(lambda core: core.release)) == "1.0"
    assert other.bootstrap_servers != mock_cluster.bootstrap_servers
"""
    )
    result.assert_outcomes(passed=2)


def test_a_conftest_gives_options_to_all_and_session_clusters_are_one(run: Run) -> None:
    result = run(
        """
def test_first(mock_cluster, mock_cluster_session):
    for cluster in (mock_cluster, mock_cluster_session):
        assert str(cluster.run(lambda core: core.release)) == "3.9"
    seen.append(mock_cluster_session)

def test_second(mock_cluster_session):
    seen.append(mock_cluster_session)

def test_third(mock_cluster_session, mock_cluster_session_factory):
    assert seen == [mock_cluster_session] * 2
    assert mock_cluster_session_factory(kafka="2.3") is not mock_cluster_session

seen = []
""",
        "-pno:randomly",
        conftest="""
import pytest

@pytest.fixture(scope="session")
def mock_cluster_options():
    return {"kafka": "3.9", "brokers": 1}
""",
    )
    result.assert_outcomes(passed=3)


MISTAKES = {
    "mockbroker(polices={})": "@pytest.mark.mockbroker has no option 'polices': did you mean 'policies'?",
    "mockbroker('2.3')": "@pytest.mark.mockbroker takes options by name, as in kafka='2.3'; '2.3' has none",
    "mockbroker(kafka='2.33')": "no Kafka release '2.33': did you mean '2.3'?",
    "mockbroker(policies={'nonsense': 'x'})": "no behaviour 'nonsense'*",
    "mockbroker(faults=[{'do': 'disconect'}])": "no fault 'disconect': did you mean 'disconnect'?",
    "mockbroker(faults=[{'api': 'Produce'}])": "a fault needs 'do', which says what goes wrong*",
    "mockbroker(faults=['disconnect'])": "a fault is a dict as {'do': 'disconnect', 'api': 'Produce'}*",
    "mockbroker(clock='sun')": "no clock 'sun': choose one of manual, wall",
}


def test_what_is_misspelt_is_told_in_one_line(run: Run) -> None:
    tests = (
        f"@pytest.mark.{marker}\ndef test_{number}(mock_cluster):\n    pass\n"
        for number, marker in enumerate(MISTAKES)
    )
    result = run("\n".join(tests))
    result.assert_outcomes(errors=len(MISTAKES))
    told = [line for line in result.outlines if line.startswith("mockbroker: ")]
    assert len(told) == len(MISTAKES)
    result.stdout.fnmatch_lines_random(
        [f"mockbroker: {line.replace('[', '[[]')}" for line in MISTAKES.values()]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("release=['2.3']", "has no option 'release'*"),
        ("kafka=[]", "names no release*"),
        ("kafka='2.3', fixed='all'", "has fixed='all': choose True, False or 'both'"),
    ],
)
def test_a_matrix_that_can_not_be_is_told_in_one_line(run: Run, options: str, line: str) -> None:
    result = run(f"@pytest.mark.mockbroker_matrix({options})\ndef test_it(mock_cluster):\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"mockbroker: @pytest.mark.mockbroker_matrix {line}"])


def test_a_matrix_runs_each_release_as_it_was_and_fixed(run: Run) -> None:
    result = run(
        """
@pytest.mark.mockbroker(kafka="1.0", brokers=1)
@pytest.mark.mockbroker_matrix(kafka=["2.3", "4.4"], fixed="both")
def test_it(mock_cluster):
    assert mock_cluster.run(lambda core: len(core.brokers)) == 1

@pytest.mark.mockbroker_matrix(kafka=["2.3"])
class TestAll:
    def test_with(self, mock_cluster_factory):
        assert str(mock_cluster_factory().run(lambda core: core.release)) == "2.3"

    def test_without(self):
        pass
""",
        "-v",
    )
    result.assert_outcomes(passed=6)
    for name in ("test_it[2.3-current]", "test_it[2.3-fixed]", "test_it[4.4-fixed]", "test_with[2.3]"):
        result.stdout.fnmatch_lines([f"*::{name.replace('[', '[[]')} PASSED*"])


def test_a_matrix_on_a_test_without_a_cluster_is_a_mistake(run: Run) -> None:
    result = run("@pytest.mark.mockbroker_matrix(kafka=['2.3'])\ndef test_it():\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["mockbroker: @pytest.mark.mockbroker_matrix is for tests with one of*"])


def test_a_fault_that_never_fired_fails_the_test_unless_it_is_optional(run: Run) -> None:
    result = run(
        """
fired = {"do": "delay", "ms": 1, "api": "Metadata"}
other = {"do": "disconnect", "api": "Produce"}

@pytest.mark.mockbroker(faults=[fired, other])
def test_forgotten(mock_cluster):
    ask(mock_cluster)

@pytest.mark.mockbroker(faults=[fired, {**other, "optional": True}])
def test_optional(mock_cluster):
    ask(mock_cluster)

def test_removed(mock_cluster):
    with mock_cluster.faults.add("silence", api="Heartbeat"):
        ask(mock_cluster)

@pytest.mark.mockbroker(faults=[other])
def test_broken(mock_cluster):
    assert False, "broken"

@pytest.mark.mockbroker(faults=[other])
def test_skipped(mock_cluster):
    pytest.skip("not now")
"""
    )
    result.assert_outcomes(passed=3, errors=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "mockbroker: the fault 'disconnect before api=Produce' never fired: no Produce came; *=True*",
            "mockbroker: the fault 'silence before api=Heartbeat' never fired: no Heartbeat came before*",
            "ERROR *::test_forgotten*",
            "ERROR *::test_removed*",
            "FAILED *::test_broken*",
        ]
    )
    result.stdout.no_fnmatch_line("*delay*never fired*")


SABOTAGE = """
import socket, struct

def sabotage(cluster):
    cluster.run(lambda core: setattr(core, "listed_by", None))
    host, port = cluster.bootstrap_servers.split(",")[0].split(":")
    with socket.create_connection((host, int(port)), timeout=20) as sock:
        metadata = struct.pack(">hhih4si", 3, 1, 7, 4, b"test", -1)
        sock.sendall(struct.pack(">i", len(metadata)) + metadata)
        assert sock.recv(1) == b""
    cluster.run(lambda core: delattr(core, "listed_by"))
"""


@pytest.mark.parametrize("fixture", ["mock_cluster", "mock_cluster_session"])
def test_a_handler_that_raises_fails_the_test_with_its_traceback(run: Run, fixture: str) -> None:
    result = run(
        f"""{SABOTAGE}
def test_it({fixture}):
    sabotage({fixture})

def test_after({fixture}):
    ask({fixture})
""",
        "-pno:randomly",
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "mockbroker: broker * failed at Metadata v1 of client 'test' (127.0.0.1:*), and closed *",
            "*Traceback*",
            "ERROR *::test_it*",
        ]
    )


def test_a_fault_of_the_sessions_cluster_is_told_of_the_test_that_removed_it(run: Run) -> None:
    result = run(
        """
def test_it(mock_cluster_session):
    with mock_cluster_session.faults.add("silence", api="Heartbeat"):
        pass

def test_after(mock_cluster_session):
    pass
""",
        "-pno:randomly",
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*the fault 'silence before api=Heartbeat' never fired*", "ERROR *::test_it*"]
    )


def test_a_failed_test_says_what_its_cluster_was(run: Run) -> None:
    result = run(
        """
@pytest.mark.mockbroker(
    kafka="2.3", brokers=2, seed=7, clock="manual", topics={"orders": 1},
    policies={"undefined-epoch": "log-end-offset", "election@topic:orders": "unclean"},
    faults=[{"do": "delay", "ms": 1, "api": "Metadata", "times": 1}],
)
def test_it(mock_cluster):
    ask(mock_cluster)
    assert False
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- mockbroker -*",
            "Kafka 2.3, brokers: 2, seed: 7",
            "clock: manual, at 20*",
            "policy undefined-epoch=log-end-offset",
            "policy election@topic:orders=unclean",
            "fault delay before api=Metadata times=1: 1 hit",
        ]
    )


def test_a_failed_test_says_what_was_decided_otherwise(run: Run) -> None:
    """And neither what any broker decides nor what was said."""
    result = run(
        """
from mockbroker.conformance.client import Client

@pytest.mark.mockbroker(brokers=1, topics={"orders": 1}, policies={"undefined-epoch": "log-end-offset"})
def test_it(mock_cluster):
    host, port = mock_cluster.bootstrap_servers.split(":")
    asked = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 7}
    with Client(host, int(port)) as client:
        for _ in range(3):
            topics = [{"topic": "orders", "partitions": [asked]}]
            client.call("offset_for_leader_epoch", 3, {"replica_id": -1, "topics": topics})
    assert len(mock_cluster.trace.events("decision", name="undefined-epoch")) == 3
    assert mock_cluster.trace.events("decision", name="time-retention")
    assert False
"""
    )
    result.assert_outcomes(failed=1)
    told = [line for line in result.outlines if "undefined-epoch=log-end-offset (chosen)" in line]
    assert len(told) == 1
    assert "for orders on broker 1: latest epoch 0, log end offset 0 -> [0, 0]" in told[0]
    result.stdout.no_fnmatch_line("*time-retention=*")


ASYNC = """
async def work(cluster, in_thread):
    began = cluster.clock.now_ms
    cluster.clock.advance("1d")
    assert cluster.clock.now_ms == began + 86_400_000
    fault = cluster.faults.add("delay", ms=1, api="Metadata")
    assert "orders" in await in_thread(ask, cluster)
    assert fault.hits

pytestmark = [pytest.mark.mockbroker(clock="manual", topics={"orders": 1})]
"""


@pytest.mark.parametrize(
    ("loop", "marker", "in_thread", "option"),
    [
        ("asyncio", "@pytest.mark.asyncio", "asyncio.to_thread", "asyncio_mode=strict"),
        ("asyncio", "", "asyncio.to_thread", "asyncio_mode=auto"),
        ("anyio", "@pytest.mark.anyio", "anyio.to_thread.run_sync", "anyio_mode=strict"),
        ("anyio", "", "anyio.to_thread.run_sync", "anyio_mode=auto"),
        ("trio", "@pytest.mark.trio", "trio.to_thread.run_sync", "trio_mode=false"),
        ("trio", "", "trio.to_thread.run_sync", "trio_mode=true"),
    ],
)
def test_asynchronous_tests_use_it_like_others(
    run: Run, loop: str, marker: str, in_thread: str, option: str
) -> None:
    plugin = loop if loop == "anyio" else f"pytest_{loop}"
    if importlib.util.find_spec(plugin) is None:
        pytest.skip(f"{plugin} is not installed")
    options = ["-o", option]
    if loop == "asyncio":
        options += ["-o", "asyncio_default_fixture_loop_scope=function"]
    result = run(
        f"""{ASYNC}
import {loop}

{marker}
async def test_asynchronous(mock_cluster):
    await work(mock_cluster, {in_thread})

def test_plain(mock_cluster):
    assert "orders" in ask(mock_cluster)
""",
        *options,
        loops=[loop],
    )
    result.assert_outcomes(passed=3 if loop == "anyio" else 2)


def test_workers_of_xdist_have_clusters_of_their_own(run: Run) -> None:
    if importlib.util.find_spec("xdist") is None:
        pytest.skip("xdist is not installed")
    result = run(
        """
@pytest.mark.parametrize("number", range(8))
def test_it(mock_cluster, mock_cluster_session, number):
    assert not ask(mock_cluster)
    assert not ask(mock_cluster_session)

def test_broken(mock_cluster):
    assert False
""",
        "-n2",
    )
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(["*- mockbroker -*", "Kafka 4.4, brokers: 3, seed: *"])


def test_a_unittest_class_asks_for_it_by_a_fixture(run: Run) -> None:
    result = run(
        """
import unittest

@pytest.mark.mockbroker(topics={"orders": 1})
class OrdersTest(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _start(self, mock_cluster):
        self.cluster = mock_cluster

    def test_it(self):
        self.assertIn("orders", ask(self.cluster))
"""
    )
    result.assert_outcomes(passed=1)


def test_it_costs_nothing_until_a_fixture_is_used(run: Run) -> None:
    result = run(
        """
import sys

@pytest.mark.mockbroker(kafka="2.3")
def test_it():
    assert sys.modules["mockbroker.pytest_plugin"]
    loaded = {name for name in sys.modules if name.partition(".")[0] in ("trio", "kio")}
    assert not loaded
    assert "mockbroker.server" not in sys.modules
""",
    )
    result.assert_outcomes(passed=1)


def test_it_may_be_loaded_twice(run: Run) -> None:
    """By name too, and by a conftest: harmless beside the entry point."""
    result = run(
        "def test_it(mock_cluster):\n    pass\n",
        "-p",
        "mockbroker.pytest_plugin",
        conftest="pytest_plugins = ['mockbroker.pytest_plugin']",
    )
    result.assert_outcomes(passed=1)


def test_mockbroker_needs_no_pytest() -> None:
    source = (
        "import sys; sys.modules['pytest'] = None; import mockbroker; mockbroker.MockCluster().start().stop()"
    )
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, timeout=60)


def test_the_options_are_those_of_a_cluster() -> None:
    parameters = set(inspect.signature(mockbroker.serve).parameters) - {"observer"}
    assert parameters == OPTIONS
