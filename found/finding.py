"""What is known of a defect, as its folder has it."""

import enum
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, Self

from mockbroker.errors import MockBrokerError
from mockbroker.nearest import nearest

FOLDER: Final = Path(__file__).parent
LANGUAGES: Final = {
    "client.cjs": "javascript",
    "client.go": "go",
    "Client.java": "java",
    "client.py": "python",
    "client.rs": "rust",
}
"""By the name of a program. Those that are not in Python use a client that a driver comes with."""
_BROKERS: Final = {"kafka": "Apache Kafka"}


class Severity(enum.StrEnum):
    """What it costs the user, worst first."""

    LOST = "data lost"
    ABORTED = "aborted records read"
    STUCK = "stuck for ever"
    STALLED = "stuck for minutes"
    AGAIN = "read again"
    SWALLOWED = "an error swallowed"
    NEEDLESS = "a needless failure"


class UnknownFindingError(MockBrokerError):
    """There is no finding of that name."""


@dataclass(frozen=True)
class Versions:
    """Releases (of the broker, too) that were tried: those that have the defect, and those that lack it."""

    has: Sequence[str]
    lacks: Sequence[str] = ()


@dataclass(frozen=True)
class TrackerSearch:
    """Which words were searched for in the trackers of the client and of Kafka, when, and what is nearest."""

    date: date
    words: Sequence[str]
    found: str


@dataclass(frozen=True)
class UpstreamReport:
    """What is filed upstream. Besides, it has the program and its output."""

    happens: str
    expected: str
    cause: str
    fix: str


@dataclass(frozen=True)
class Finding:
    """It is of a `client` or of a `broker` (`kafka`). `at` are the functions at fault, as file:function.
    `needs` is what it takes: nothing, what an operator does, or what a broker does wrong. `issue` is where
    the defect is known. `moves` is the group whose coordinator the program moves, `moves_leader` the topic
    whose leader it moves. `late` is the API that brokers answer late when the program has made them stand
    still. `leaves` is the broker that the program has go away, and come back; with `hangs` one of a mock
    answers nothing meanwhile, as real ones do, and is not stopped. `forbids` is a topic that must not be
    written to: mocks have a fault for that, real brokers an ACL. `real` are the releases of real brokers on
    which it was seen, and when. `hunt` says which violations of `mockbroker hunt` it causes (fields of
    `mockbroker.clients.hunt.known.KnownViolation`).
    """

    name: str
    title: str
    severity: Severity
    at: Sequence[str]
    needs: str
    versions: Versions
    search: TrackerSearch
    report: UpstreamReport
    real: Mapping[str, date]
    client: str | None = None
    broker: str | None = None
    issue: str | None = None
    by_design: bool = False
    moves: str | None = None
    moves_leader: str | None = None
    late: str | None = None
    leaves: int | None = None
    hangs: bool = False
    hunt: Sequence[Mapping[str, str]] = ()
    forbids: str | None = None

    @classmethod
    def load(cls, folder: Path) -> Self:
        """OSError, TOMLDecodeError; TypeError or ValueError for fields that are missing or wrong."""
        fields: dict[str, Any] = tomllib.loads((folder / "finding.toml").read_text())
        fields["severity"] = Severity(fields["severity"])
        fields["versions"] = Versions(**fields["versions"])
        fields["search"] = TrackerSearch(**fields["search"])
        fields["report"] = UpstreamReport(**fields["report"])
        if ("client" in fields) == ("broker" in fields):
            raise ValueError(f"{folder.name} is of a client or of a broker")
        return cls(name=folder.name, **{"real": {}, **fields})

    @property
    def subject(self) -> str:
        """What has the defect."""
        return self.client or _BROKERS[self.broker or ""]

    @property
    def status(self) -> str:
        if self.issue:
            return f"known: {self.issue}"
        return "by design" if self.by_design else "new"

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def program(self) -> Path:
        """In one of the `LANGUAGES`."""
        return next(path for path in map(self.folder.joinpath, LANGUAGES) if path.exists())

    @property
    def language(self) -> str:
        """As reports mark its text."""
        return LANGUAGES[self.program.name]

    @property
    def scenario(self) -> Path:
        return self.folder / "scenario.toml"

    @property
    def expected(self) -> str:
        """What the program prints while the client has the defect."""
        return (self.folder / "expected.txt").read_text()


def findings() -> list[Finding]:
    """Worst first, and among equals by name."""
    every = [Finding.load(each.parent) for each in FOLDER.glob("*/finding.toml")]
    return sorted(every, key=lambda each: (list(Severity).index(each.severity), each.name))


def named(name: str) -> Finding:
    """UnknownFindingError."""
    every = {each.name: each for each in findings()}
    if name not in every:
        raise UnknownFindingError(f"no finding {name!r}{nearest(name, every)}")
    return every[name]
