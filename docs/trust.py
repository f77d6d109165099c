"""The page that says how far mockbroker can be trusted: figures of other pages and of recorded answers, each
with the command that gives it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from found.finding import findings
from mockbroker.conformance.known_differences import KNOWN, reason
from mockbroker.conformance.questions import all_questions
from mockbroker.conformance.recordings import load
from mockbroker.rig.setup import RELEASES

_DOCS: Final = Path(__file__).parent
_BENCHMARKS: Final = _DOCS.parent / "benchmarks" / "README.md"
_HEAD: Final = """
# How far can you trust it?

Every figure here comes from a command that you can run, and from the page that its row names. Figures of
campaigns, attacks and benchmarks are those of the day on which they were run; all others are counted when
this page is made.
""".strip()
_SPEED: Final = {
    "produce 100 B, 1 in flight, p50 µs; p99": "an answer to a record of 100 B, p50 in µs; p99",
    "64 in flight": "records of 100 B, 64 in flight, answers/s",
    "fetch 1 MB": "fetches of 1 MB, MB/s",
    "64 connections": "64 connections, answers/s",
    "ready, s": "ready, s",
    "memory, idle, MB": "memory, idle, MB",
}
"""Rows of the table beside a real broker, by what they are called there."""


class Table(NamedTuple):
    """A table of Markdown: the names of its columns, and its rows."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def page() -> Iterator[str]:
    yield _HEAD
    yield from ("", "## Answers as real brokers give them", "", "| | | by |", "|---|---|---|")
    yield from _answers()
    yield from ("", "What is known to differ:", "")
    yield from _known()
    yield from ("", "## Real clients", "", "| | | by |", "|---|---|---|")
    yield from _clients()
    yield from ("", "## Clients that mean harm", "")
    yield from _attacks()
    yield from ("", "## Speed", "")
    yield from _speed()


def _answers() -> Iterator[str]:
    for release in RELEASES:
        asked, differing = _recorded(release)
        yield (
            f"| [questions](makers.md) whose answers by Kafka {release} are recorded, each version counted "
            f"| {asked:,}, of which {differing} are answered otherwise "
            "| `mockbroker conformance ask`, and in CI |"
        )
    campaigns = _table(_DOCS / "differential.md", "campaign").rows
    played, differ = (sum(int(row[at].replace(",", "")) for row in campaigns) for at in (2, 3))
    yield (
        "| [random sequences](differential.md) of 10 to 25 requests, each sent to a real broker, too "
        f"| {played:,} in {len(campaigns)} campaigns; {differ} differed, most of which were mended before "
        "the next | `make differential` |"
    )
    cases = _table(_DOCS / "share-cases.md", "case").rows
    seen = sum(bool(row[2]) for row in cases)
    yield (
        "| [Kafka's own cases](share-cases.md) of share consumers "
        f"| {seen} of {len(cases)} are played here and with real brokers, and end alike "
        "| `python -m tests.clients.share_cases --kafka 4.4.0` |"
    )


def _recorded(release: str) -> tuple[int, int]:
    """How many answers are recorded, and how many of them are known to differ."""
    asked = differing = 0
    for api in dict.fromkeys(each.api for each in all_questions()):
        for name, versions in load(release, api).items():
            asked += len(versions)
            differing += len(versions) * (reason(f"{api}.{name}", release) is not None)
    return asked, differing


def _known() -> Iterator[str]:
    for question, why in KNOWN.items():
        yield f"- `{question}`: {_linked(why)}"
    for row in _table(_DOCS / "differential.md", "remaining difference").rows:
        yield f"- {row[0]}: {row[1]}"
    yield "- [what is left out](left-out.md)"


def _linked(why: str) -> str:
    return re.sub(r"docs/([\w/-]+\.md)", r"[\1](\1)", why)


def _clients() -> Iterator[str]:
    cards = _table(_DOCS / "report-cards" / "README.md", "client").rows
    names = ", ".join(re.sub(r"\[(.*)\]\((.*)\)", r"[\1](report-cards/\2)", row[0]) for row in cards)
    yield (
        "| clients with a [driver](drivers.md), and a [report card](check.md) "
        f"| {len(cards)}: {names} | `make cards` |"
    )
    every = findings()
    of_clients = [each for each in every if each.client]
    real = sum(bool(each.real) for each in of_clients)
    yield (
        "| [defects of released clients](found.md) that were found with it "
        f"| {len(of_clients)}, {real} of them seen with real brokers, too; and "
        f"{len(every) - len(of_clients)} of brokers "
        "| `python -m found list`, `python -m found real NAME --kafka 3.9.2` |"
    )


def _attacks() -> Iterator[str]:
    rows = {row[0]: float(row[2]) for table in _tables(_BENCHMARKS) for row in _beside(table)}
    worst = max(rows, key=lambda name: rows[name])
    yield "While another client does what it should not, one that produces small records waits for its"
    yield f"answers. Of {len(rows)} [attacks](../benchmarks/README.md) the worst is {worst.split(':')[0]},"
    yield f"with a p99 of {rows[worst]:g} ms; `python -m benchmarks.attacks` plays them, and fails above 250"
    yield "ms. The largest request of each kind, and [what is refused](limits.md), is tested in CI."


def _beside(table: Table) -> list[tuple[str, ...]]:
    return [row for row in table.rows if table.columns[:1] == ("beside",) and row[0] != "nobody"]


def _speed() -> Iterator[str]:
    (table,) = [each for each in _tables(_BENCHMARKS) if each.columns == ("", "mockbroker", "Kafka 4.4.0")]
    rows = {row[0]: row for row in table.rows}
    yield "Beside a real Kafka 4.4.0, warmed up, by `make bench` on the same machine"
    yield "([all rows](../benchmarks/README.md)):"
    yield from ("", "| | mockbroker | Kafka 4.4.0 |", "|---|--:|--:|")
    for name, title in _SPEED.items():
        yield f"| {title} | {rows[name][1]} | {rows[name][2]} |"


def _table(page_: Path, first: str) -> Table:
    """The first of a page whose first column has that name."""
    return next(each for each in _tables(page_) if each.columns[0] == first)


def _tables(page_: Path) -> Iterator[Table]:
    for block in re.findall(r"(?:^\|.*\n)+", page_.read_text(encoding="utf-8") + "\n", re.MULTILINE):
        head, _, *rows = (_cells(line) for line in block.splitlines())
        yield Table(head, rows)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1])
