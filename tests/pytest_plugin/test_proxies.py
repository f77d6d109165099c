"""The fixture `mock_proxy`: which proxy a test gets, and what fails it."""

from collections.abc import Iterator

import pytest

from mockbroker import MockCluster
from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]


@pytest.fixture
def staging() -> Iterator[str]:
    with MockCluster(brokers=1, topics={"staged": 1}) as cluster:
        yield cluster.bootstrap_servers


def test_a_proxy_is_in_front_of_the_cluster_of_the_test(run: Run) -> None:
    result = run(
        """
lost = {"do": "disconnect", "api": "Metadata", "times": 1}
other = {"do": "silence", "api": "Produce"}
pytestmark = [
    pytest.mark.mockbroker(brokers=1, topics={"orders": 2}), pytest.mark.mockbroker_proxy(faults=[lost])
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

@pytest.mark.mockbroker_proxy(faults=[other, {**lost, "times": 2}])
def test_broken(mock_proxy):
    ask(mock_proxy)
    assert False, "broken"
""",
        "-pno:randomly",
    )
    result.assert_outcomes(passed=4, errors=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "mockbroker: the fault 'silence before api=Produce' never fired: no Produce came; *=True*",
            "*- mockbroker -*",
            "the fault 'silence before api=Produce' never fired: no Produce came;*",
            "proxy at 127.0.0.1:*, in front of 127.0.0.1:*",
            "fault disconnect before api=Metadata times=2: 2 hits",
            "the last that happened:",
            "*Metadata*",
            "FAILED *::test_broken*",
            "ERROR *::test_forgotten*",
        ]
    )


REAL = """
@pytest.mark.mockbroker(topics={"orders": 1})
@pytest.mark.mockbroker_proxy(kafka="2.8")
def test_staging(mock_proxy):
    assert list(ask(mock_proxy)) == ["staged"]

@pytest.mark.mockbroker(policies={"undefined-epoch": "log-end-offset"})
def test_of_a_mock(mock_proxy):
    pass

@pytest.mark.mockbroker_matrix(kafka=["2.3", "4.4"])
def test_of_mocks(mock_proxy):
    pass
"""


def test_the_same_tests_are_in_front_of_another_cluster(run: Run, staging: str) -> None:
    result = run(REAL, "--mockbroker-upstream", staging)
    result.assert_outcomes(passed=1, errors=1, skipped=2)
    result.stdout.fnmatch_lines([f"mockbroker: *has policies, but this run is in front of {staging}*"])


def test_what_is_nearer_says_in_front_of_which_cluster(
    run: Run, staging: str, pytester: pytest.Pytester
) -> None:
    pytester.makeini(f"[pytest]\nmockbroker_upstream = {staging}\n")
    result = run(
        """
def test_of_the_configuration(mock_proxy):
    assert list(ask(mock_proxy)) == ["staged"]

@pytest.mark.mockbroker_proxy(upstream="127.0.0.1:1")
def test_of_the_marker(mock_proxy):
    pass

@pytest.mark.mockbroker_proxy(fault=[])
def test_misspelt(mock_proxy):
    pass

@pytest.mark.mockbroker_proxy(policies={"election": "unclean"})
def test_impossible(mock_proxy):
    pass
""",
        conftest="""
import pytest

@pytest.fixture(scope="session")
def mock_proxy_options():
    return {"trace": False}
""",
    )
    result.assert_outcomes(passed=1, errors=3)
    result.stdout.fnmatch_lines_random(
        [
            "mockbroker: no broker told which brokers there are: 127.0.0.1:1: *",
            "mockbroker: @pytest.mark.mockbroker_proxy has no option 'fault': did you mean 'faults'?",
            "mockbroker: election is decided in the cluster itself*",
        ]
    )
