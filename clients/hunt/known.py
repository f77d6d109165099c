"""What is known to go wrong with clients, so that a campaign shows what is new."""

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from mockbroker.errors import MockBrokerError

_HEAD: Final = """\
# What is known to go wrong with clients: `mockbroker hunt --known` shows what is not in this file.
# finding: a folder of found/. ruling: what it is, if it is no finding: by design, or whose mistake.
"""


class KnownError(MockBrokerError, ValueError):
    """A file of known violations that can't be read."""


@dataclass(frozen=True)
class KnownViolation:
    """Violations of one invariant by one kind of application, with one `cause` (`harm.cause_of`); any, where
    these are `*`."""

    client: str
    invariant: str
    application: str = "*"
    cause: str = "*"
    finding: str = ""
    ruling: str = ""

    @property
    def told(self) -> str:
        return self.finding or self.ruling or "not ruled on yet"

    def covers(self, client: str, invariant: str, application: str, cause: str) -> bool:
        given = (client, invariant, application, cause)
        known = (self.client, self.invariant, self.application, self.cause)
        return all(mine in ("*", theirs) for mine, theirs in zip(known, given, strict=True))


def read_known(path: Path) -> list[KnownViolation]:
    """Those of a file; if there is none, those of the findings of this checkout. KnownError, OSError."""
    if not path.exists():
        return of_findings(Path("found"))
    try:
        rows = tomllib.loads(path.read_text()).get("known", [])
        return [_known(row) for row in rows]
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise KnownError(f"{path} is no file of known violations: {error}") from None


def of_findings(folder: Path) -> list[KnownViolation]:
    """What the findings in a folder say of how they show in a hunt. KnownError, OSError."""
    found: list[KnownViolation] = []
    for each in sorted(folder.glob("*/finding.toml")):
        row = tomllib.loads(each.read_text())
        given = {"client": row.get("client"), "finding": each.parent.name}
        found += [_known({**given, **shown}) for shown in row.get("hunt", ())]
    return found


def _known(row: dict[str, Any]) -> KnownViolation:
    names = {each.name for each in fields(KnownViolation)}
    if unknown := set(row) - names:
        raise KnownError(f"a known violation has no {', '.join(sorted(unknown))}: {', '.join(sorted(names))}")
    return KnownViolation(**row)


def write_known(path: Path, known: Iterable[KnownViolation]) -> None:
    """OSError."""
    path.write_text("\n".join([_HEAD, *map(_entry, known)]))


def _entry(known: KnownViolation) -> str:
    rows = [f"{each.name} = {json.dumps(getattr(known, each.name))}" for each in fields(known)]
    return "\n".join(["[[known]]", *rows, ""])


def covering(
    known: Sequence[KnownViolation], client: str, invariant: str, application: str, cause: str
) -> KnownViolation | None:
    """The first that is the same."""
    return next((each for each in known if each.covers(client, invariant, application, cause)), None)
