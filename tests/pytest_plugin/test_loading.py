"""How the plugin is loaded, and what that costs."""

import inspect
import subprocess
import sys

import mockbroker
from tests.pytest_plugin.conftest import ROOT, Run

pytest_plugins = ["pytester"]


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


def test_frames_of_public_calls_are_hidden() -> None:
    """What a user calls is told by the line that calls it."""
    calls = inspect.getmembers(mockbroker.MockCluster, inspect.isfunction)
    handles = inspect.getmembers(mockbroker.FaultHandle, inspect.isfunction)
    shown = [name for name, call in [*calls, *handles] if not call.__globals__.get("__tracebackhide__")]
    assert not shown
