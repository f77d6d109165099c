"""How the cases ended with real brokers, by release: `real.json`, and a column of `docs/share-cases.md`.

A case that has changed since then, with what it is made of, has not been seen.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from . import PROJECT

FILE: Final = Path(__file__).parent / "real.json"
PAGE: Final = Path(__file__).parents[3] / "docs" / "share-cases.md"
_OF_ALL: Final = ("Stage.java", "Member.java")
_CASE: Final = re.compile(r'all\.put\("(test\w+)"')
_ROW: Final = re.compile(r"^\| `(test\w+)` \|", re.MULTILINE)
FAILS: Final = "fails"


@dataclass
class Seen:
    """Of one case: what it was made of, and what went wrong by release, empty if nothing did."""

    digest: str
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def releases(self) -> str:
        """As the page has it."""
        return ", ".join(f"{each} {FAILS}" if error else each for each, error in sorted(self.errors.items()))


def ported() -> dict[str, str]:
    """The cases, with digests of what each is made of."""
    shared = b"".join((PROJECT / each).read_bytes() for each in _OF_ALL)
    found = {}
    for file in sorted(PROJECT.glob("*.java")):
        text = file.read_text()
        digest = hashlib.sha256(shared + text.encode()).hexdigest()[:12]
        found.update(dict.fromkeys(_CASE.findall(text), digest))
    return found


def read() -> dict[str, Seen]:
    kept: Mapping[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return {name: Seen(each["digest"], dict(each["errors"])) for name, each in kept.items()}


def write(seen: Mapping[str, Seen]) -> None:
    lines = [
        f" {json.dumps(name)}: {json.dumps({'digest': each.digest, 'errors': each.errors}, sort_keys=True)}"
        for name, each in sorted(seen.items())
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def take(release: str, errors: Mapping[str, str]) -> None:
    """Keeps what was seen just now; what was seen of earlier versions of these cases is forgotten."""
    seen, now = read(), ported()
    for name, error in errors.items():
        if name not in seen or seen[name].digest != now[name]:
            seen[name] = Seen(now[name])
        seen[name].errors[release] = error
    kept = {name: each for name, each in seen.items() if name in now}
    write(kept)
    PAGE.write_text(page(PAGE.read_text(), kept))


def page(text: str, seen: Mapping[str, Seen]) -> str:
    """The page, with its column as it should be: the third one of the table."""

    def line(row: str) -> str:
        if not (match := _ROW.match(row)):
            return row
        cells = row.split(" | ")
        known = seen.get(match[1])
        cells[2] = known.releases if known else ""
        return " | ".join(cells)

    return "\n".join(map(line, text.split("\n")))
