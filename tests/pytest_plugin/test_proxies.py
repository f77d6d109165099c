"""The fixture `mock_proxy`: which proxy a test gets, and what fails it."""

import pytest

from mockbroker import MockCluster
from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]


def test_a_proxy_is_in_front_of_the_cluster_of_the_test(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", unfit='[[fault]]\ndo = "silence"\napi = "Fetch"\n')
    result = run(
        """
late = {"do": "delay", "ms": 1, "api": "Metadata", "times": 1}
other = {"do": "silence", "api": "Produce"}
pytestmark = [
    pytest.mark.mockbroker(brokers=1, topics={"orders": 2}), pytest.mark.mockbroker_proxy(faults=[late])
]

@pytest.mark.mockbroker_matrix(kafka=["2.3", "4.4"])
def test_both(mock_proxy, mock_cluster):
    assert mock_proxy.bootstrap_servers != mock_cluster.bootstrap_servers
    assert "orders" in ask(mock_proxy)
    assert [each.hits for each in mock_proxy.faults] == [1]
    assert mock_proxy.trace.events("answer", api="Metadata")

@pytest.mark.mockbroker(security={"tls": True})
def test_tls(mock_proxy):
    assert "orders" in ask(mock_proxy)

@pytest.mark.mockbroker_proxy(faults=[other])
def test_forgotten(mock_proxy):
    ask(mock_proxy)

@pytest.mark.mockbroker_proxy(scenario="unfit.toml")
def test_played(mock_proxy):
    ask(mock_proxy)

@pytest.mark.mockbroker_proxy(faults=[other, late], scenario="unfit.toml")
def test_broken(mock_proxy):
    ask(mock_proxy)
    assert False, "broken"
""",
        "-pno:randomly",
    )
    result.assert_outcomes(passed=5, errors=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "mockbroker: the fault 'silence before api=Produce' never fired: no Produce came; *=True*",
            "mockbroker: the scenario failed: fault '1' never fired: silence before api=Fetch: no *",
            "*- mockbroker -*",
            "the fault 'silence before api=Produce' never fired: no Produce came;*",
            "proxy at 127.0.0.1:*, in front of 127.0.0.1:*",
            "fault delay before api=Metadata times=1: 1 hit",
            "the last that happened:",
            "*Metadata*",
            "FAILED *::test_broken*",
            "ERROR *::test_forgotten*",
        ]
    )


STAGED = """
pytestmark = pytest.mark.mockbroker(topics={"orders": 1})

@pytest.fixture
def no_option(pytestconfig, monkeypatch):
    monkeypatch.setattr(pytestconfig.option, "mockbroker_upstream", None)

def test_of_the_configuration(no_option, mock_proxy):
    assert list(ask(mock_proxy)) == ["configured"]

@pytest.mark.mockbroker_proxy(kafka="2.8")
def test_of_the_option(mock_proxy):
    assert list(ask(mock_proxy)) == ["staged"]

@pytest.mark.mockbroker_proxy(upstream="127.0.0.1:1")
def test_of_the_marker(mock_proxy):
    pass

@pytest.mark.mockbroker(policies={"undefined-epoch": "log-end-offset"})
def test_of_a_mock(mock_proxy):
    pass

@pytest.mark.mockbroker_matrix(kafka=["2.3", "4.4"])
def test_of_mocks(mock_proxy):
    pass

@pytest.mark.mockbroker_proxy(fault=[])
def test_misspelt(mock_proxy):
    pass

@pytest.mark.mockbroker_proxy(policies={"election": "unclean"})
def test_impossible(mock_proxy):
    pass
"""
OPTIONS = """
import pytest

@pytest.fixture(scope="session")
def mock_proxy_options():
    return {"trace": False}
"""


def test_what_is_nearer_says_in_front_of_which_cluster(run: Run, pytester: pytest.Pytester) -> None:
    with (
        MockCluster(brokers=1, topics={"staged": 1}) as staging,
        MockCluster(brokers=1, topics={"configured": 1}) as other,
    ):
        pytester.makeini(f"[pytest]\nmockbroker_upstream = {other.bootstrap_servers}\n")
        servers = staging.bootstrap_servers
        result = run(STAGED, "--mockbroker-upstream", servers, conftest=OPTIONS)
    result.assert_outcomes(passed=2, errors=4, skipped=2)
    result.stdout.fnmatch_lines_random(
        [
            "mockbroker: no broker told which brokers there are: 127.0.0.1:1: *",
            f"mockbroker: *has policies, but this run is in front of {servers}*",
            "mockbroker: @pytest.mark.mockbroker_proxy has no option 'fault': did you mean 'faults'?",
            "mockbroker: election is decided in the cluster itself*",
        ]
    )
