"""`docs/found.md`, a page for each finding, and the text that is filed upstream."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from mockbroker.scenario.scenario import load

from .finding import Finding, Versions, findings

PAGE: Final = Path(__file__).parent.parent / "docs" / "found.md"

_WIDTH: Final = 118
_INTRODUCTION: Final = """# What is wrong with released clients

Defects of released clients that mockbroker has shown, the worst first. Each has a program that shows it
against mock brokers within seconds. The programs that need no fault also run against real, unmodified
brokers, which Maven fetches:

```console
$ python -m found list
$ python -m found run NAME
$ python -m found real NAME --kafka 3.9.2
$ python -m found report NAME
```

Each defect was tried with the releases that its row names. A test runs it with the release that is installed,
so a fix upstream is noticed. *New* means that no report of it was found in stored copies of public trackers;
the words of that search, and its day, are given with the finding. `report` prints a text that can be filed.
Everything about a finding is in its folder in [found/](../found).
"""

_OF_BROKERS: Final = """
## Of brokers

Defects of brokers themselves, which mock brokers have, too. The programs send requests themselves, and use no
client. Each ran against real brokers of 3.9.2 and 4.4.0; a release that is not named lacks the defect.
"""


def page() -> str:
    """The text of `docs/found.md`: a table, whose rows lead to the findings' folders."""
    return "\n".join(_table()) + "\n"


def site_page(finding: Finding) -> str:
    """A finding's page on the documentation's site."""
    return "\n".join([f"# {finding.title}", "", *_facts(finding), *_report(finding)]) + "\n"


def report(finding: Finding) -> str:
    """What can be filed upstream, in Markdown."""
    return "\n".join([f"# {finding.title}", "", *_report(finding)]) + "\n"


def _table() -> Iterator[str]:
    yield _INTRODUCTION
    yield "| what goes wrong | client | releases | what it takes | status |"
    yield "|---|---|---|---|---|"
    every = findings()
    of_clients = [each for each in every if each.client]
    yield from map(_row, of_clients)
    yield "\n## By client\n"
    yield "With the report card of each, which says how it does in known stories."
    for client in sorted({str(each.client) for each in of_clients}):
        yield f"\n### {client}\n"
        card = f"report-cards/{client}.md"
        if (PAGE.parent / card).exists():
            yield f"[Report card]({card})\n"
        yield from (f"- {_link(each)}" for each in of_clients if each.client == client)
    yield _OF_BROKERS
    yield "| what goes wrong | broker | seen in | what it takes | status |"
    yield "|---|---|---|---|---|"
    yield from (_row(each) for each in every if each.broker)


def _row(finding: Finding) -> str:
    status = f"[known]({finding.issue})" if finding.issue else finding.status
    what = f"**{finding.severity}**: {_link(finding)}"
    releases = _span(finding.versions)
    return f"| {what} | {finding.subject} | {releases} | {finding.needs} | {status} |"


def _link(finding: Finding) -> str:
    return f"[{finding.title}](../found/{finding.name})"


def _facts(finding: Finding) -> Iterator[str]:
    seen = ", ".join(f"{release} ({day})" for release, day in finding.real.items())
    words = "; ".join(f"“{each}”" for each in finding.search.words)
    for fact in (
        f"{finding.severity}; it takes {finding.needs}",
        f"seen on real brokers: {seen or 'no'}",
        f"status: {finding.status}",
        f"searched on {finding.search.date} for {words}: {finding.search.found}",
        f"`python -m found run {finding.name}`",
    ):
        yield from _wrapped(fact, "- ")
    yield ""


def _report(finding: Finding) -> Iterator[str]:
    versions = finding.versions
    yield from _wrapped(finding.report.happens)
    yield ""
    lacks = f"; not in {', '.join(versions.lacks)}" if versions.lacks else ""
    brokers = f", with Apache Kafka {' and '.join(finding.real)}" if finding.real and finding.client else ""
    yield from _wrapped(f"Seen in {finding.subject} {', '.join(versions.has)}{lacks}{brokers}.")
    yield "\n## Steps\n"
    yield from _wrapped(_setting(finding))
    yield f"\n```{finding.language}"
    yield finding.program.read_text().strip()
    yield "```"
    yield "\n## Actual\n"
    yield "```text"
    yield finding.expected.strip()
    yield "```"
    for heading, text in (
        ("Expected", finding.report.expected),
        ("Cause", f"In {_listed(finding.at)}. {finding.report.cause}"),
        ("Suggested fix", finding.report.fix),
    ):
        yield f"\n## {heading}\n"
        yield from _wrapped(text)


def _setting(finding: Finding) -> str:
    """The cluster that the program needs, in words."""
    scenario = load(finding.scenario)
    brokers = scenario.cluster.get("brokers", 3)
    parts = [f"{brokers} broker{'s' if brokers > 1 else ''}"]
    parts += [f"`{name}={value}`" for name, value in scenario.cluster.get("config", {}).items()]
    for topic, partitions in scenario.cluster.get("topics", {}).items():
        parts.append(f"topic `{topic}` with {partitions} partition{'s' if partitions > 1 else ''}")
    if finding.forbids:
        parts.append(
            f"ACLs by which everybody may describe topic `{finding.forbids}`, and nobody may write to it"
        )
    for fault in () if finding.forbids else scenario.faults:
        parts.append("a fault: `" + " ".join(f"{name}={value}" for name, value in fault.given.items()) + "`")
    moving = ""
    if finding.moves:
        moving = f" `MOVE_COORDINATOR` is a command that moves the coordinator of group `{finding.moves}`."
    if finding.moves_leader:
        moving = f" `MOVE_LEADER` is a command that moves the leader of topic `{finding.moves_leader}`."
    if finding.late:
        moving = (
            " `STAND_STILL` is a command that stops all brokers (SIGSTOP), and goes on with them after 2 s."
        )
    if finding.leaves:
        moving = (
            f" `LEAVE` is a command that stops broker {finding.leaves} (SIGSTOP) and waits until it leads "
            "nothing, `COME_BACK` one that goes on with it."
        )
    return f"A cluster of {', '.join(parts)}.{moving}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)


def _span(versions: Versions) -> str:
    """Runs of releases that have the defect, with none between them that lacks it."""
    tried = sorted((*versions.has, *versions.lacks), key=lambda each: [int(part) for part in each.split(".")])
    runs = [list(run) for has, run in groupby(tried, lambda each: each in versions.has) if has]
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _wrapped(text: str, bullet: str = "") -> Iterator[str]:
    indent = " " * len(bullet)
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(
            paragraph,
            _WIDTH,
            initial_indent=bullet,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
