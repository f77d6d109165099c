"""pytest in a process of its own, with small test files, as users meet the plugin."""

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

import mockbroker

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
        # None of the files has a property, and Hypothesis takes long to import.
        others.append("-pno:hypothesispytest")
        return pytester.runpytest_subprocess(*PLUGIN, "-Werror", *others, *args)

    return run
