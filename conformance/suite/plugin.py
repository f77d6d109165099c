"""The part of pytest that collects questions as tests, asks them and reports.

It is loaded when pytest is started with `--pyargs mockbroker.conformance`, and never otherwise.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import create_connection
from typing import Any, Final

import pytest

from mockbroker.errors import MockBrokerError
from mockbroker.protocol.releases import NEWEST

from ...rig import readiness
from ...rig.client import Client
from ...rig.scene import Target
from ...rig.setup import BROKER_CONFIG
from .. import recordings
from ..asking import Result, compare, recorded
from ..needed_config import needed
from ..registry import Question
from .report import SUFFIXES, Report, differences, title

_HERE: Final = Path(__file__).resolve().parents[1]
_NODE: Final = "mockbroker.conformance"
_WIDEST: Final = 400
_PAUSE_S: Final = 0.1
_KEY: Final = pytest.StashKey["Asked"]()


class DiffersError(MockBrokerError, AssertionError):
    """An answer is not the recorded one. `ended`: since then nothing can connect; `back`: it can again."""

    def __init__(self, result: Result, *, ended: bool, back: bool) -> None:
        self.result, self.ended, self.back = result, ended, back


class Asked:
    """The cluster that is asked, and its answers so far."""

    def __init__(self, bootstrap: str, release: str, timeout_s: float) -> None:
        self.bootstrap, self._timeout_s = bootstrap, timeout_s
        self.target = Target.connect(bootstrap, timeout_s)
        self.report = Report(release, len(self.target.nodes), _lacking(self.target, release))
        self._config = _config(self.target)

    def skipped(self, question: Question) -> str:
        """Why a question is not put to this cluster, or nothing."""
        if question.brokers != len(self.target.nodes):
            return f"it is for {_brokers(question.brokers)}, and the cluster has {len(self.target.nodes)}"
        for name in needed(question.id):
            if (value := self._config.get(name, BROKER_CONFIG[name])) != BROKER_CONFIG[name]:
                return f"{name} is {value or 'not set'}, and was {BROKER_CONFIG[name]} when recorded"
        return ""

    def ask(self, question: Question, version: int, expected: list[list[Any]]) -> None:
        """DiffersError, or pytest's exception for a test that is skipped."""
        if why := self.skipped(question):
            self.report.add(Result(question.id, version, False, expected, None), why)
            pytest.skip(why)
        result = compare(self.target, question, version, expected)
        why = f"the cluster has no {result.lacks}" if result.lacks else ""
        self.report.add(result, why)
        if why:
            pytest.skip(why)
        if not result.equal:
            gone = not self._there()
            if gone:
                self.report.ended.append(title(question.id, version))
            raise DiffersError(result, ended=gone, back=not gone or self._back())

    def _there(self) -> bool:
        try:
            with closing(create_connection((self.target.host, self.target.port), self._timeout_s)):
                return True
        except OSError:
            return False

    def _back(self) -> bool:
        """Whether something has started the cluster again within the time that an answer may take."""
        limit = time.monotonic() + self._timeout_s
        while time.monotonic() < limit:
            try:
                self.target = Target.connect(self.bootstrap, self._timeout_s)
                return True
            except (OSError, LookupError, ValueError):
                time.sleep(_PAUSE_S)
        return False


def _brokers(count: int) -> str:
    return "one broker" if count == 1 else f"{count} brokers"


def _lacking(target: Target, release: str) -> list[str]:
    try:
        return readiness.lacking(target, release)
    except Exception as error:  # A foreign broker may answer anything.
        return [f"how it is set up could not be read: {type(error).__name__}: {error}"]


def _config(target: Target) -> dict[str, str | None]:
    try:
        with Client(target.host, target.port, timeout=target.timeout) as client:
            found = readiness.configuration(target, client)
        return {name: entry["value"] for name, entry in found.items()}
    except Exception:  # As above: what can't be learned is taken to be as recorded.
        return {}


# -- options


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "answers compared with those of real Kafka brokers")
    group.addoption("--bootstrap", metavar="HOST:PORT", help="Address of the cluster to ask.")
    group.addoption(
        "--kafka",
        default=NEWEST,
        metavar="RELEASE",
        help=f"Release to compare with, or the recorded one that is nearest to it. Default: {NEWEST}",
    )
    group.addoption(
        "--answer-within",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="A question breaks off if one answer takes longer. Default: 5",
    )
    group.addoption(
        "--report", type=Path, metavar="FILE", help="Where to write all differences: FILE.md or FILE.json."
    )


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    option = session.config.option
    if getattr(option, "dist", "no") != "no":
        raise pytest.UsageError("the questions share one cluster: run them in one process, with -n0")
    if option.report is not None and option.report.suffix not in SUFFIXES:
        raise pytest.UsageError(f"--report {option.report}: a file ends in {' or '.join(SUFFIXES)}")
    release = _release(option.kafka)
    if option.collectonly:
        return
    if option.bootstrap is None:
        raise pytest.UsageError("say which cluster to ask: --bootstrap HOST:PORT")
    try:
        session.config.stash[_KEY] = Asked(option.bootstrap, release, option.answer_within)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise pytest.UsageError(f"{option.bootstrap} could not be asked: {why}") from error


def _release(wanted: str) -> str:
    try:
        return recordings.nearest_release(wanted)
    except ValueError as error:
        raise pytest.UsageError(f"--kafka: {error}") from None


# -- collection


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if path.resolve() != _HERE:
        return None
    return Questions.from_parent(parent, path=path, nodeid=_NODE)


class Questions(pytest.Directory):
    """All that was recorded of the release."""

    def collect(self) -> Iterator[pytest.Item]:
        release = _release(self.config.option.kafka)
        for place, (question, version, expected) in enumerate(recorded(release)):
            name = title(question.id, version)
            yield Ask.from_parent(
                self, name=name, place=place, question=question, version=version, expected=expected
            )


class Ask(pytest.Item):
    """One question in one version."""

    def __init__(
        self, *, place: int, question: Question, version: int, expected: list[list[Any]], **more: Any
    ) -> None:
        super().__init__(**more)
        self.place, self._question, self._version, self._expected = place, question, version, expected

    def runtest(self) -> None:
        try:
            self.config.stash[_KEY].ask(self._question, self._version, self._expected)
        except DiffersError as error:
            if not error.back:
                self.session.shouldfail = f"the cluster can't be reached since {self.name}"
            raise

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, DiffersError):
            return super().repr_failure(excinfo, style)
        widest = None if self.config.option.verbose > 0 else _WIDEST
        text = [self._question.doc] if self._question.doc else []
        if excinfo.value.ended:
            text.append("    Since then the cluster can't be reached.")
        for line in differences(excinfo.value.result):
            short = line if widest is None or len(line) <= widest else f"{line[:widest]}… (-v shows all)"
            text.append(f"    {short}")
        return "\n".join(text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In the recorded order, also where a plugin has shuffled them."""
    items.sort(key=lambda each: each.place if isinstance(each, Ask) else -1)


# -- report


def pytest_report_header(config: pytest.Config) -> list[str]:
    asked = config.stash.get(_KEY, None)
    if asked is None:
        return []
    report = asked.report
    head = f"asked: {asked.bootstrap}, {_brokers(report.brokers)}; compared with Kafka {report.release}"
    return [head, *(f"  not as recorded: {each}" for each in report.lacks)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    asked = config.stash.get(_KEY, None)
    if asked is None or not asked.report.asked:
        return
    terminalreporter.section(f"compared with Kafka {asked.report.release}")
    for line in asked.report.table():
        terminalreporter.write_line(line)
    for each in asked.report.ended:
        terminalreporter.write_line(f"The cluster could not be reached after {each}.", red=True)
    if skipped := asked.report.skipped():
        terminalreporter.section("skipped", sep="-")
    for why, count in skipped:
        terminalreporter.write_line(f"{count:>5}  {why}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    asked = session.config.stash.get(_KEY, None)
    if asked is None:
        return
    asked.target.delete_topics()
    if session.config.option.report is not None:
        asked.report.write(session.config.option.report)
