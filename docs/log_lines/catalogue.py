"""The catalogue of statements, `pipeline/readers/statements.tsv`, and its table for the docs."""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from mockbroker.pipeline.readers import client_messages
from mockbroker.pipeline.readers.log_entries import Entry
from mockbroker.pipeline.readers.logs import TABLES
from mockbroker.pipeline.readers.statements import (
    CATALOGUE,
    COMPLAINT,
    LATER,
    NOTHING,
    Statement,
    read,
    shortened,
)

from .packages import PACKAGES, files
from .rulings import REASONS, reason
from .samples import samples
from .statements import statements

HEADER: Final = "level\treleases\twhere\tverdict\ttemplate"
_TIME: Final = "[2026-11-23 02:46:01,972]"
_LEVELS: Final = ("ERROR", "WARN", "INFO")
_MOST_PLACES: Final = 3
_LONGEST: Final = 400
_CLIENT: Final = re.compile(r"(?:java|librdkafka|franz-go|sarama|kafka-go|KafkaJS|kafka-python|aiokafka)-")
_TROUBLE: Final = re.compile(
    r"[Ff]ail|[Ee]rror|\berr:|\{\w*[eE]rr\w*\}|[Ll]ost|[Oo]ut of range|[Uu]nable|[Aa]bort|"
    r"[Rr]eject|[Ff]enced|[Uu]nstable|giving up|"
    r"hit retryable|[Cc]rash|[Pp]roblem|not part of|epoch exhausted|retrying"
)


_KRAFT: Final = ("broker-3.9.2", "broker-4.3.1")
_RDKAFKA: Final = ("librdkafka-2.12.1", "librdkafka-2.15.1")
_PUT_TOGETHER: Final = (
    (
        _KRAFT,
        "ERROR",
        "EventPerformanceMonitor",
        "Exceptionally slow controller event {name} took {n} ms",
    ),
    (_KRAFT, "WARN", "QuorumController", "Performing controller activation. {how}"),
    (_RDKAFKA, "ERROR", "rdkafka_transport", "Disconnected: connection closed by peer: {how}"),
    (
        _RDKAFKA,
        "WARN",
        "rdkafka_idempotence",
        "Failed to acquire {how} PID from broker {broker}: {err}",
    ),
)
"""Statements whose texts are put together in several places."""


_SHOWN: Final = {"broker": "brokers of Kafka", "java": "clients of Kafka"}


_ABOUT: Final = (
    "[`mockbroker analyze`](../analyze.md) knows these log statements, of INFO and above. *Read* are those "
    "of which a row is made, of WARN and ERROR also as a `complaint`. Of the others there is a ruling that "
    "they tell nothing of what is searched for, for one of the reasons below. Lines at WARN and ERROR that "
    "are not known are counted in its report. `python -m docs.log_lines` takes the statements from the "
    "sources that Maven, Cargo, Go, npm and PyPI have, and judges them again. Of sarama and kafka-go all "
    "statements without a level count as INFO."
)


@dataclass
class _Seen:
    levels: set[str] = field(default_factory=set)
    releases: set[str] = field(default_factory=set)
    where: list[str] = field(default_factory=list)


def made() -> list[Statement]:
    """The statements of all packages, each once. RealBrokerError without their package managers."""
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for package in PACKAGES:
        for each in statements(package.language, files(package)):
            found = seen[each.template.split(" ⏎ ")[0][:_LONGEST].replace("\t", " ").strip()]
            found.levels.add(each.level)
            found.releases.add(package.part)
            if each.where not in found.where:
                found.where.append(each.where)
    for releases, level, where, template in _PUT_TOGETHER:
        seen[template] = _Seen({level}, set(releases), [where])
    return [_judged(template, each) for template, each in sorted(seen.items()) if template]


def _judged(template: str, seen: _Seen) -> Statement:
    level = ",".join(each for each in _LEVELS if each in seen.levels)
    releases = tuple(sorted(seen.releases))
    verdict = rule(template, seen.where[0], level.split(",")[0])
    if verdict is None:
        loudest = level.split(",")[0]
        reasons = [reason(loudest, where, template) for where in seen.where]
        if None not in reasons:
            verdict = f"{NOTHING}{reasons[0]}"
        elif level != "INFO" or (all(map(_CLIENT.match, releases)) and _TROUBLE.search(template)):
            verdict = COMPLAINT
        else:
            verdict = LATER
    if verdict.startswith(NOTHING):
        template = shortened(template) or template
    where = tuple(each.replace(" ", "") for each in seen.where[:_MOST_PLACES])
    return Statement(level, releases, where, verdict, template)


def rule(template: str, where: str, level: str) -> str | None:
    """The name of the message that makes a row of a line of this statement; None if none does."""
    for sample in samples(template):
        for logger in ("", f" (kafka.server.{where})"):
            text = f"{_TIME} {level} {sample}{logger}"
            entry = Entry(1, 0, text.removeprefix(_TIME), text)
            for made in (each for table in TABLES for each in table.messages):
                if made.text in entry.message and made.pattern.search(entry.message):
                    return made.name
            if client_messages.lists(entry):
                return client_messages.LISTS
    return None


def write(found: Iterable[Statement]) -> None:
    rows = (
        "\t".join((each.level, " ".join(each.releases), " ".join(each.where), *each[3:])) for each in found
    )
    CATALOGUE.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")


def page() -> Iterator[str]:
    """The reference: how many statements of each release and client are known."""
    yield "# What log lines are known\n"
    yield from textwrap.wrap(_ABOUT, 105)
    yield ""
    heads = [f"{level}: all | read | known" for level in _LEVELS]
    yield f"| of | {' | '.join(heads)} |"
    yield "|---|" + "--:|" * 3 * len(_LEVELS)
    known = read()
    for part in dict.fromkeys(each.part for each in PACKAGES):
        shown = []
        for level in _LEVELS:
            some = [each for each in known if part in each.releases and level in each.level.split(",")]
            nothing = sum(each.verdict.startswith(NOTHING) for each in some)
            later = sum(each.verdict == LATER for each in some)
            of = f"{100 * (len(some) - later) // len(some)} %" if some else ""
            shown.append(f"{len(some)} | {len(some) - nothing - later} | {of}")
        name, _, version = part.rpartition("-")
        yield f"| {_SHOWN.get(name, name)} {version} | {' | '.join(shown)} |"
    yield ""
    yield "| tells nothing | statements | reason |"
    yield "|---|--:|---|"
    times = Counter(each.verdict.removeprefix(NOTHING) for each in known if each.verdict.startswith(NOTHING))
    for name, why in REASONS.items():
        yield f"| `{name}` | {times[name]} | {why} |"
