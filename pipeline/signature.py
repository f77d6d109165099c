"""What a file of `signatures/` declares: how it searches, and all that belongs to what it finds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .consequences import Rule
from .readers.log_spans import CONTROLLER
from .reproduction import Reproduction
from .tables import Table

CLIENT: Final = "client"
OFFSETS: Final = "offsets"
BATCHES: Final = "batches"
BROKERS: Final = "brokers"
OWN: Final = "own"
COORDINATORS: Final = "coordinators"
NEEDS: Final = (CONTROLLER, BROKERS, OWN, COORDINATORS, CLIENT, OFFSETS, BATCHES)
"""The log of a controller; those of all brokers that had the partition, of the broker that it is about, or of
all that had one of the offsets topic; that of a Java client of the group; the group's records in the offsets
topic; the batches of the partition."""


class Alike(NamedTuple):
    """`signatures` would have been found in what `needs` names (one of `NEEDS`). If there is a row of kind
    `shown` about the same of `by`, it can't be ruled out, although nothing was found."""

    named: str
    signatures: tuple[str, ...]
    needs: str
    shown: str | None = None
    by: tuple[str, ...] = ("topic", "partition")


@dataclass(frozen=True, slots=True)
class Signature:
    """Findings that belong together, by their `names`. `what` says what happened, for the reference, and
    `known_as` under which name that is known.

    `stories` say by name what happened, in the story of an incident: `{who} went back`, if it happened to
    a group, a producer or a broker. `rules` say what it leads to. `alike` are names of signatures that look
    alike, and `looked_for` says how this one is ruled out where it looks like another. `unshown` says why
    there are no `reproductions`, if that is known.
    """

    names: tuple[str, ...]
    what: str
    known_as: str = ""
    stories: Mapping[str, str] = field(default_factory=dict)
    rules: Sequence[Rule] = ()
    alike: tuple[str, ...] = ()
    looked_for: Alike | None = None
    reproductions: tuple[Reproduction, ...] = ()
    unshown: str = ""


class Search:
    """`what` is shown while it runs; `needs` are kinds of rows: if there are no rows of any of them, nothing
    can be found."""

    def __init__(
        self, what: str, find: Callable[[Table], Table], needs: Sequence[str], *signatures: Signature
    ) -> None:
        self.what, self.find, self.needs, self.signatures = what, find, needs, signatures
