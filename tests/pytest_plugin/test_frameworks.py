"""Beside plugins and frameworks of others: event loops, xdist, unittest."""

import importlib.util

import pytest

from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]


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


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("loop", ["asyncio", "anyio", "trio"])
def test_asynchronous_tests_use_it_like_others(run: Run, loop: str, marked: bool) -> None:
    """With a marker for the test, and where the plugin's mode needs none."""
    marker = f"@pytest.mark.{loop}" if marked else ""
    in_thread = "asyncio.to_thread" if loop == "asyncio" else f"{loop}.to_thread.run_sync"
    modes = ("false", "true") if loop == "trio" else ("strict", "auto")
    option = f"{loop}_mode={modes[not marked]}"
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
