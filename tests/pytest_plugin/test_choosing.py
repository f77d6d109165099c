"""Which cluster a test gets: markers, a conftest.py, matrices."""

import pytest

from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]


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
    result.stdout.fnmatch_lines(["mockbroker: @pytest.mark.mockbroker_matrix is only for tests with one of*"])
