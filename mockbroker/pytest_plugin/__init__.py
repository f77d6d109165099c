"""The pytest plugin: fixtures and markers for clusters and proxies. A test fails if its faults did not fire.

PYTEST_DONT_REWRITE
"""

import contextlib
import logging
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

from ..cluster_options import OPTIONS as OF_CLUSTERS
from ..cluster_options import check_names
from ..errors import OptionError
from ..proxy_options import OPTIONS as OF_PROXIES
from . import options
from .clusters import Clusters
from .options import MARKER, MATRIX, PROXY
from .proxies import INI, OPTION, WatchedProxy, check_cluster_options, of_mock

if TYPE_CHECKING:
    from ..proxying.mock_proxy import MockProxy
    from ..server.mock_cluster import MockCluster
    from .factory import ClusterFactory

_CLUSTERS: Final = pytest.StashKey[Clusters]()
_SHARED: Final = pytest.StashKey[Clusters]()
_PROXY: Final = pytest.StashKey[WatchedProxy]()
_PASSED: Final = pytest.StashKey[bool]()
_SHARED_FACTORY: Final = "mock_cluster_session_factory"
_VARIANT: Final = "_mock_cluster_variant"
_BROKER_TESTS: Final = "mockbroker.conformance"
_FACTORIES: Final = ("mock_cluster", "mock_cluster_factory")
_OF_PROXIES: Final = ("mock_proxy", "mock_proxy_options")
_FIXTURES: Final = (
    *_FACTORIES,
    "mock_cluster_session",
    _SHARED_FACTORY,
    "mock_cluster_options",
    *_OF_PROXIES,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "the cluster in front of which mock_proxy stands, as HOST:PORT,...; by default a mock"
    parser.getgroup("mockbroker").addoption(OPTION, metavar="HOST:PORT", help=what)
    parser.addini(INI, what)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(kafka='2.3', policies={{...}}, faults=[{{...}}], topics={{...}}, clock='manual', ...): "
        "which Kafka cluster mock_cluster gives.",
    )
    config.addinivalue_line(
        "markers",
        f"{PROXY}(upstream='HOST:PORT', faults=[{{...}}], ...): which proxy mock_proxy gives.",
    )
    config.addinivalue_line(
        "markers",
        f"{MATRIX}(kafka=['2.3', '4.4'], fixed='both'): runs the test with each release, as it was, fixed.",
    )


def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """The tests of brokers have options of their own, which nobody else needs."""
    if _BROKER_TESTS in args:
        early_config.pluginmanager.import_plugin(f"{_BROKER_TESTS}.suite.plugin")


# -- fixtures


@pytest.fixture(scope="session")
def mock_cluster_options() -> Mapping[str, Any]:
    """Options of every cluster, unless a marker or call says otherwise: define it in your conftest.py."""
    return {}


@pytest.fixture
def mock_cluster(mock_cluster_factory: "ClusterFactory") -> "MockCluster":
    """A Kafka cluster for this test, as its `mockbroker` markers say."""
    return _made(mock_cluster_factory)


@pytest.fixture
def mock_cluster_factory(
    request: pytest.FixtureRequest,
    mock_cluster_options: Mapping[str, Any],
    _mock_cluster_variant: dict[str, Any],
) -> "Iterator[ClusterFactory]":
    """Makes Kafka clusters for this test: `mock_cluster_factory(kafka="2.3")`. Markers apply to them too."""
    item = request.node
    defaults = {
        **_known(mock_cluster_options, "mock_cluster_options", OF_CLUSTERS),
        **options.of_test(item),
        **_mock_cluster_variant,
    }
    clusters = item.stash[_CLUSTERS] = Clusters(defaults, "mock_cluster_factory")
    with _reported_once(request.config, clusters):
        yield clusters.make
    _end(clusters, passed=item.stash.get(_PASSED, False))


@pytest.fixture(scope="session")
def mock_cluster_session(mock_cluster_session_factory: "ClusterFactory") -> "MockCluster":
    """One Kafka cluster for all tests, as `mock_cluster_options` says."""
    return _made(mock_cluster_session_factory)


@pytest.fixture(scope="session")
def mock_cluster_session_factory(
    request: pytest.FixtureRequest, mock_cluster_options: Mapping[str, Any]
) -> "Iterator[ClusterFactory]":
    """Makes Kafka clusters that stay until the last test is over."""
    defaults = _known(mock_cluster_options, "mock_cluster_options", OF_CLUSTERS)
    clusters = Clusters(defaults, _SHARED_FACTORY)
    request.session.stash[_SHARED] = clusters
    with _reported_once(request.config, clusters):
        yield clusters.make
    _end(clusters, passed=True)


@pytest.fixture(scope="session")
def mock_proxy_options() -> Mapping[str, Any]:
    """Options of every proxy, unless a marker says otherwise: define it in your conftest.py."""
    return {}


@pytest.fixture
def mock_proxy(
    request: pytest.FixtureRequest,
    mock_cluster_factory: "ClusterFactory",
    mock_proxy_options: Mapping[str, Any],
    _mock_cluster_variant: dict[str, Any],
) -> "Iterator[MockProxy]":
    """A proxy for this test, as its `mockbroker_proxy` markers say: in front of the cluster that these, the
    command line or the configuration of pytest name, or else of the test's `mock_cluster`."""
    item, config = request.node, request.config
    known = _known(mock_proxy_options, "mock_proxy_options", OF_PROXIES)
    given = {**known, **options.of_test(item, PROXY)}
    upstream = given.pop("upstream", None) or config.getoption(OPTION) or config.getini(INI)
    if upstream:
        _check_upstream(item, upstream, _mock_cluster_variant)
    else:
        cluster = request.getfixturevalue("mock_cluster")
        upstream, given = cluster.bootstrap_servers, {**of_mock(cluster), **given}
    watched = item.stash[_PROXY] = _started(upstream, given)
    yield watched.proxy
    _end(watched, passed=item.stash.get(_PASSED, False))


def _check_upstream(item: pytest.Item, upstream: str, variant: Mapping[str, Any]) -> None:
    if variant:
        pytest.skip(f"@pytest.mark.{MATRIX} is for mocks, and this run is in front of {upstream}")
    try:
        check_cluster_options(options.of_test(item), upstream)
    except OptionError as error:
        _fail(str(error))


def _started(upstream: str, given: Mapping[str, Any]) -> WatchedProxy:
    from ..errors import UpstreamError
    from ..server.listening import PortInUseError

    try:
        return WatchedProxy(upstream, given)
    except (ValueError, UpstreamError, PortInUseError) as error:
        _fail(str(error))


@pytest.fixture
def _mock_cluster_variant(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = getattr(request, "param", {})
    return found


def _known(given: Mapping[str, Any], where: str, names: Collection[str]) -> Mapping[str, Any]:
    try:
        check_names(given, where, names)
    except OptionError as error:
        _fail(str(error))
    return given


def _made(factory: "ClusterFactory") -> "MockCluster":
    from ..server.listening import PortInUseError

    try:
        return factory()
    except (ValueError, PortInUseError) as error:
        _fail(str(error))


def _end(ended: Clusters | WatchedProxy, *, passed: bool) -> None:
    """Stops them. A fault that never fired is not reported if the test has failed anyway."""
    problems = ended.stop()
    if passed:
        problems += ended.problems(over=True)
    if problems:
        _fail("\n".join(problems))


def _fail(message: str) -> NoReturn:
    raise pytest.fail.Exception(f"mockbroker: {message}", pytrace=False) from None


@contextlib.contextmanager
def _reported_once(config: pytest.Config, clusters: Clusters) -> Iterator[None]:
    """Failures of these clusters are reported on their own, and not again in the captured log."""
    handler = getattr(config.pluginmanager.get_plugin("logging-plugin"), "report_handler", None)
    if not isinstance(handler, logging.Handler):
        yield
        return

    def others(record: logging.LogRecord) -> bool:
        return not clusters.logged(record)

    handler.addFilter(others)
    try:
        yield
    finally:
        handler.removeFilter(others)


# -- hooks


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker(MATRIX)
    if mark is None:
        return
    if _VARIANT not in metafunc.fixturenames:
        if mark in metafunc.definition.own_markers:
            _fail(f"@pytest.mark.{MATRIX} is only for tests with one of the fixtures {', '.join(_FACTORIES)}")
        return
    try:
        variants = options.variants(mark)
    except OptionError as error:
        _fail(str(error))
    metafunc.parametrize(_VARIANT, variants.values(), ids=variants, indirect=True)


def pytest_sessionstart(session: pytest.Session) -> None:
    """UsageError if another plugin has a fixture of the same name, since pytest would use either of the two.
    A conftest.py may replace the fixture on purpose."""
    manager = session.config.pluginmanager
    for plugin in manager.get_plugins():
        name, found = manager.get_name(plugin) or "", getattr(plugin, "__dict__", {})
        if found.get("__name__") == __name__ or name.endswith("conftest.py"):
            continue
        if twice := [each for each in _FIXTURES if each in found]:
            raise pytest.UsageError(
                f"mockbroker: the plugin {name!r} has a fixture {twice[0]} too: disable one of the two "
                f"plugins with -p no:{name} or -p no:mockbroker"
            )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    try:
        given = options.of_test(item)
        options.of_test(item, PROXY)
    except OptionError as error:
        _fail(str(error))
    names = getattr(item, "fixturenames", ())
    if given and "mock_cluster" in names and "mock_cluster_factory" not in names:
        _fail(
            f"@pytest.mark.{MARKER} has no effect on this mock_cluster, a fixture of your own: rename it, or "
            "let it use mock_cluster_factory"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    result = yield
    shared = _shared(item)
    if shared is not None and (problems := shared.problems(over=False)) and item.stash.get(_PASSED, False):
        _fail("\n".join(problems))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[_PASSED] = report.passed
    if report.failed:
        for each in (item.stash.get(_PROXY, None), item.stash.get(_CLUSTERS, None), _shared(item)):
            if each is not None and (text := each.describe(report.longreprtext)):
                report.sections.append((MARKER, text))
    return report


def _shared(item: pytest.Item) -> Clusters | None:
    """The clusters of the session, if the test uses one."""
    if _SHARED_FACTORY in getattr(item, "fixturenames", ()):
        return item.session.stash.get(_SHARED, None)
    return None
