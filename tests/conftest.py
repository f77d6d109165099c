"""What each test needs is known before it runs, and it gets nothing else. How often properties are tried.

Fixtures of all folders: clusters without sockets, in virtual time (`driving/`), and a browser.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import pytest
from hypothesis import settings

from . import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from mockbroker.cluster.cluster import Cluster

settings.register_profile("fast", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("ci", max_examples=50, derandomize=True, deadline=None, print_blob=True)
settings.register_profile("thorough", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "fast")

_needed = pytest.StashKey[frozenset[str]]()
_pretenders = pytest.StashKey[needs.Pretenders]()


def pytest_configure(config: pytest.Config) -> None:
    folder = tempfile.TemporaryDirectory(prefix="mockbroker-tests-")
    config.add_cleanup(folder.cleanup)
    config.stash[_pretenders] = needs.Pretenders(Path(folder.name))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_WithoutGroups())


class _WithoutGroups:
    """Tests that failed are remembered by their own names: pytest-xdist adds that of their group, and nobody
    could run them once more."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name, _, group = report.nodeid.rpartition("@")
        if name and "]" not in group:
            report.nodeid = name


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Hardly anything that is imported or collected becomes garbage: nobody looks for it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Without groups each worker would start JVMs of its own, and set up modules again. Thousands of tests,
    and all that they import, are not looked through whenever garbage is collected."""
    gc.collect()
    gc.freeze()
    if getattr(session.config.option, "loadgroup", False):
        for item in session.items:
            if item.get_closest_marker("xdist_group") is not None and "@" not in item.nodeid:
                raise pytest.UsageError(f"{item.nodeid} has no group: pytest-xdist does not know this pytest")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs something, before `-m` looks. Tests that share a JVM or a fixture of their module run
    in one worker. Those with Spark are the first to begin: they are the longest chain."""
    for item in items:
        needed = needs.of(item)
        item.stash[_needed] = needed
        if needed and item.get_closest_marker("needs") is None:
            item.add_marker(pytest.mark.needs(*sorted(needed)))
        if needed or _shares(item):
            item.add_marker(pytest.mark.xdist_group("spark" if "pyspark" in needed else item.path.stem))
    items[:] = _mixed(items)


def _shares(item: pytest.Item) -> bool:
    """Whether a fixture of its module is set up for it: each worker would do that, and again after others."""
    if not isinstance(item, pytest.Function):
        return False
    return any(each[-1].scope == "module" for each in item._fixtureinfo.name2fixturedefs.values())


def _mixed(items: list[pytest.Item]) -> list[pytest.Item]:
    """Spark first. What needs something else often waits, so that beside it others compute: it is spread over
    all but the last of them, which are short."""
    spark = [each for each in items if "pyspark" in each.stash[_needed]]
    waiting = [each for each in items if each.stash[_needed] and "pyspark" not in each.stash[_needed]]
    computing = [each for each in items if not each.stash[_needed]]
    places = [number * 0.8 * len(computing) / len(waiting) for number in range(len(waiting))]
    both = [*zip(places, waiting, strict=True), *zip(range(len(computing)), computing, strict=False)]
    return spark + [each for _, each in sorted(both, key=lambda placed: placed[0])]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    pretenders = item.config.stash[_pretenders]
    needs.declared = item.stash[_needed]
    pretenders.stand_in(needs.declared)
    result = yield
    pretenders.leave()
    needs.declared = None
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    needed = item.stash[_needed]
    for name in sorted(needed):
        if name not in needs.PACKAGES:
            needs.need(name)
        elif importlib.util.find_spec(name) is None:
            needs.missing(f"{name} is not installed: make setup-all")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    if started := item.config.stash[_pretenders].started():
        pytest.fail(f"started without a marker `needs` for it: {started}", pytrace=False)
    return result


@pytest.fixture
def cluster() -> Cluster:
    """Three brokers of the newest release."""
    from .driving.cluster import a_cluster

    return a_cluster()


@pytest.fixture
def driver(request: pytest.FixtureRequest) -> object:
    """A new driver of the class that the test's parameter is annotated with.

    It drives the newest release, or the one that `@pytest.mark.parametrize` with `indirect` names.
    """
    made: type = get_type_hints(request.function)["driver"]
    driver: object = made(request.param) if hasattr(request, "param") else made()
    return driver


@pytest.fixture(scope="module")
@needs.brings("chromium", "playwright")
def browser() -> Iterator[Browser]:
    """Of one module, since Playwright runs an event loop in this thread for as long as it is there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The shell draws the same pages, has no windows, and takes half the CPU time.
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        # Chromium's own sandbox does not work for root; one process less takes a twentieth less CPU time.
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--in-process-gpu"]
        )
        with contextlib.closing(browser):
            yield browser
