"""What brokers and clients may log, by `statements.tsv`, and which of it tells nothing.

A line is known by the fixed parts of a statement's template, which stand in it one after the other. They are
looked for with `str.find`, and only those templates are tried that have two words in a row with the line in
common: the rarest ones of each template.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

CATALOGUE: Final = Path(__file__).with_name("statements.tsv")
COMPLAINT: Final = "complaint"
LATER: Final = "later"
NOTHING: Final = "nothing: "
"""Verdicts; every other one is the name of a message in the tables."""
LONGEST: Final = 2_000
"""What is searched of a line, in characters."""
_PLACE: Final = re.compile(r"\{(\w*)\}")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z']+")
_LEAST: Final = 3
"""The fixed words by which a complaint is known; with fewer a line has to name the class or facility, too. Of
what tells nothing it is one more, for it hides lines."""
Pair = tuple[str, str]


class Statement(NamedTuple):
    """`template` has `{name}` for what is filled in; of what tells nothing it is the longest fixed part.

    `releases` are those of `RELEASES` and the clients that have it, `where` are classes or files.
    """

    level: str
    releases: tuple[str, ...]
    where: tuple[str, ...]
    verdict: str
    template: str

    @property
    def parts(self) -> list[str]:
        """The fixed parts and, between them, the names of what is filled in."""
        return _PLACE.split(self.template)


class Found(NamedTuple):
    """A statement, and what a line has in place of its names."""

    statement: Statement
    values: list[tuple[str, str]]


@dataclass(frozen=True)
class Index:
    """Statements by two of their words."""

    by_pair: dict[Pair, list[tuple[int, Statement]]]

    @classmethod
    def of(cls, statements: list[Statement]) -> "Index":
        pairs = [list(_pairs(each)) for each in statements]
        often = Counter(pair for each in pairs for pair in set(each))
        by_pair: dict[Pair, list[tuple[int, Statement]]] = {}
        for each, found in zip(statements, pairs, strict=True):
            if found:
                size = sum(map(len, each.parts[::2]))
                by_pair.setdefault(min(found, key=lambda pair: often[pair]), []).append((size, each))
        return cls(by_pair)

    def find(self, text: str) -> Found | None:
        """The statement that a line comes from: of those that fit the one with most fixed text."""
        text = text[:LONGEST]
        words = _WORD.findall(text)
        candidates = {id(each): each for pair in pairwise(words) for each in self.by_pair.get(pair, ())}
        for _, statement in sorted(candidates.values(), key=lambda each: -each[0]):
            values = _fits(statement.parts, text)
            if values is not None and (
                _many(statement) or any(each.rpartition(":")[2] in text for each in statement.where)
            ):
                return Found(statement, values)
        return None


def _many(statement: Statement) -> bool:
    least = _LEAST + (statement.verdict != COMPLAINT)
    return sum(len(_WORD.findall(part)) for part in statement.parts[::2]) >= least


def _pairs(statement: Statement) -> Iterator[Pair]:
    parts = statement.parts
    for nth in range(0, len(parts), 2):
        words = list(_WORD.finditer(parts[nth]))
        # What a value follows or precedes without a space is no word of its own.
        if words and nth and words[0].start() == 0:
            words.pop(0)
        if words and nth + 1 < len(parts) and words[-1].end() == len(parts[nth]):
            words.pop()
        yield from pairwise(each[0] for each in words)


def _fits(parts: list[str], text: str) -> list[tuple[str, str]] | None:
    values: list[tuple[str, str]] = []
    at = text.find(parts[0])
    if at < 0:
        return None
    at += len(parts[0])
    for name, fixed in zip(parts[1::2], parts[2::2], strict=True):
        end = text.find(fixed, at) if fixed else len(text)
        if end < 0:
            return None
        values.append((name, text[at:end]))
        at = end + len(fixed)
    return values


def read(path: Path = CATALOGUE) -> list[Statement]:
    """The statements of a catalogue."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        level, releases, where, verdict, template = line.split("\t")
        found.append(Statement(level, tuple(releases.split()), tuple(where.split()), verdict, template))
    return found


@cache
def complaints(*, quiet: bool = False) -> Index:
    """The statements at WARN and ERROR that are no message of the tables; with `quiet` also those at INFO,
    which clients in Go and Python use for errors."""
    return Index.of(
        [
            each
            for each in read()
            if (each.verdict == COMPLAINT or each.verdict.startswith(NOTHING))
            and (quiet or each.level != "INFO")
        ]
    )


def shortened(template: str) -> str:
    """The longest fixed part of a template, of at most eight words."""
    fixed = max(_PLACE.split(template)[::2], key=lambda part: len(_WORD.findall(part)))
    words = fixed.split(" ")
    whole = [nth for nth in range(len(words)) if _WORD.search(words[nth])]
    if not whole:
        return fixed.strip()
    begin = whole[0]
    return " ".join(words[begin : begin + 8]).strip()
