"""The page of results: the prose of `page.md`, with a section for each mechanism."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .mechanisms import MECHANISMS, Mechanism
from .plan import RESETS
from .results import Results, Row, plain

TEMPLATE: Final = Path(__file__).parent / "page.md"
_SECTION: Final = re.compile(r"^\{\{ (\w+) \}\}$", re.MULTILINE)
_REPORTED: Final = ("Java 3.9.2", "5a no-epoch")
"""The client of the report, and the case in which it says what it said there."""
Subject = tuple[str, str]
"""A client, and what it commits."""


def page(results: Results) -> str:
    """The whole page. KeyError for a mechanism in the template that there is not."""

    def section(match: re.Match[str]) -> str:
        lines = results.logs[_REPORTED[0]][_REPORTED[1]] if match[1] == "log" else ()
        return "\n".join(lines or _section(MECHANISMS[match[1]], results)).rstrip()

    return _SECTION.sub(section, TEMPLATE.read_text())


def _section(mechanism: Mechanism, results: Results) -> Iterator[str]:
    yield f"### {mechanism.key}. {mechanism.title}"
    yield ""
    yield mechanism.set_up
    yield ""
    yield f"| client, and what it commits | {' | '.join(f'`{reset}`' for reset in RESETS)} |"
    yield "|---|" + "---|" * len(RESETS)
    by_row: dict[tuple[str, ...], list[Subject]] = {}
    for client, mechanisms in results.outcomes.items():
        for variant, row in mechanisms.get(mechanism.key, {}).items():
            if variant == plain(variant):
                by_row.setdefault(tuple(row[reset] for reset in RESETS), []).append((client, variant))
    for told, subjects in by_row.items():
        yield f"| {_named(subjects, mechanism, '<br>')} | {' | '.join(map(_cell, told))} |"
    yield ""
    yield from _variants(mechanism, results)


def _named(subjects: list[Subject], mechanism: Mechanism, separator: str) -> str:
    """Clients that commit the same stand together."""
    by_client: dict[str, list[str]] = {}
    for client, commit in subjects:
        by_client.setdefault(client, []).append(commit)
    by_commits: dict[str, list[str]] = {}
    for client, commits in by_client.items():
        by_commits.setdefault(", ".join(commits), []).append(client)
    if not mechanism.follows_commit:
        return ", ".join(by_client)
    return separator.join(f"{', '.join(clients)}: {commits}" for commits, clients in by_commits.items())


def _cell(told: str) -> str:
    """With emphasis where records are read again or lost, or nothing is read."""
    if told.startswith("raises"):
        return f"raises `{told.removeprefix('raises ')}`"
    return f"**{told}**" if "again" in told or "lost" in told or "nothing" in told else told


def _variants(mechanism: Mechanism, results: Results) -> Iterator[str]:
    """What the broker's other answers and other settings change."""
    changes: dict[str, dict[str, list[Subject]]] = {}
    for client, mechanisms in results.outcomes.items():
        variants = mechanisms.get(mechanism.key, {})
        for variant, row in variants.items():
            commit, _, special = variant.partition(" ")
            if special:
                found = changes.setdefault(special, {})
                if change := _change(variants[commit], row):
                    found.setdefault(change, []).append((client, commit))
    for special in [special for special in changes if _follows(special, changes)]:
        del changes[special]
    for special, found in changes.items():
        if found:
            yield f"With {_special(special)}:"
            yield ""
            yield from (f"- {_named(who, mechanism, '; ')}: {what}" for what, who in found.items())
            yield ""
    if same := [_special(special) for special, found in changes.items() if not found]:
        yield f"Nothing changes with {', '.join(same)}."
        yield ""
    if mechanism.by_chance:
        named = ", ".join(map(_special, mechanism.by_chance))
        yield f"With {named} it depends on the broker that B happens to ask."
        yield ""


def _change(usual: Row, row: Row) -> str:
    """What is told differently."""
    return "; ".join(f"`{reset}` {_cell(told)}" for reset, told in row.items() if told != usual.get(reset))


def _follows(special: str, changes: dict[str, dict[str, list[Subject]]]) -> bool:
    """Whether two answers do together what one of them does, and the other nothing."""
    one, _, two = special.partition(" ")
    if "=" not in two:
        return False
    return any(
        changes[special] == changes[each] and not changes[other] for each, other in ((one, two), (two, one))
    )


def _special(special: str) -> str:
    return " and ".join(f"`{word}`" for word in special.split(" ")) if "=" in special else f"*{special}*"
