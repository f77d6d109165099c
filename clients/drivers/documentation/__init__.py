"""What the documentation of a client tells applications to do after an error: a table for each library.

Where a library has none, the flags of errors say it (`flags.toml`).
"""

import enum
import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from ..lines import Refusal

FOLDER: Final = Path(__file__).parent
_UNKNOWN: Final = "flags"


class Act(enum.StrEnum):
    """What an application does after an error."""

    RETRY = "retry"
    """The same call again."""
    ABORT = "abort"
    """Aborts the transaction, and begins another."""
    CLOSE = "close"
    """Closes the client, and begins anew with another."""
    GO_ON = "go on"
    """Does what it would have done without the error."""


@dataclass(frozen=True)
class Rule:
    """After an error of one of these verbs (of any, if there is none) that has these values. `says` is the
    sentence of the documentation; `informs`: the client may tell of errors from which it recovers itself."""

    then: Sequence[Act]
    says: str
    of: Sequence[str] = ()
    when: Mapping[str, Any] = field(default_factory=dict)
    informs: bool = False

    def fits(self, verb: str, error: Refusal) -> bool:
        return (not self.of or verb in self.of) and all(
            getattr(error, name) in (value if isinstance(value, list) else [value])
            for name, value in self.when.items()
        )


@dataclass(frozen=True)
class Documentation:
    """`source` is where it is. The first rule that fits counts; the last one fits everything."""

    source: str
    rules: Sequence[Rule]

    def after(self, verb: str, error: Refusal) -> Rule:
        return next(each for each in self.rules if each.fits(verb, error))

    @classmethod
    def load(cls, path: Path) -> Self:
        """OSError; TypeError or ValueError for fields that are missing or wrong."""
        table = tomllib.loads(path.read_text())
        rules = [Rule(**{**row, "then": [Act(each) for each in row["then"]]}) for row in table["rule"]]
        return cls(table["source"], rules)


@functools.cache
def documentation(client: str) -> Documentation:
    """Of the first library that the text names which a hello has of its client."""
    paths = [FOLDER / f"{each}.toml" for each in [*re.findall(r"[\w-]+", client), _UNKNOWN]]
    return Documentation.load(next(path for path in paths if path.exists()))
