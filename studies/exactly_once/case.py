"""One case: a client, a release with its behaviours, and a seed that says what goes wrong when."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

RECORDS: Final = 60
PARTITIONS: Final = 2
BATCH: Final = 5
"""Records of one transaction."""
INPUT: Final = "input"
OUTPUT: Final = "output"
GROUP: Final = "mover"
TRANSACTIONAL_ID: Final = "mover"
PAUSE_MS: Final = 30
"""What the work on the records of a transaction takes, in the middle of it."""
_FAULTS: Final = 6
_DELAYS_MS: Final = (100, 1050, 1200, 1400)
"""Most are longer than a client waits for an answer: it tries again before the work is done."""

_TRANSACTIONAL: Final = (
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
    "Produce",
)
_OTHERS: Final = ("FindCoordinator", "OffsetFetch", "Fetch", "Metadata", "Heartbeat")
_HAPPENINGS: Final = (
    *("disconnect", "disconnect", "silence", "delay", "delay"),
    *("move-leader", "move-coordinator"),
)


@dataclass(frozen=True)
class Case:
    """`late_ends` lets an EndTxn be carried out so late that the client has begun another transaction."""

    kafka: str
    seed: int
    policies: Mapping[str, str] = field(default_factory=dict)
    fixed: bool = False
    late_ends: bool = True

    def for_client(self, *, bumps_epochs: bool) -> "Case":
        """With every fix a late EndTxn can still hit the next transaction of a client that ends both with
        the same epoch (KIP-890): nothing on the broker's side keeps that apart."""
        return replace(self, late_ends=bumps_epochs) if self.fixed else self

    def faults(self) -> list[dict[str, Any]]:
        """What goes wrong: most of it with requests of transactions, some of it more than once."""
        dice = random.Random(self.seed)
        faults = [_fault(dice) for _ in range(_FAULTS)]
        for fault in faults:
            if fault["api"] == "EndTxn" and "ms" in fault and not self.late_ends:
                fault["ms"] = min(_DELAYS_MS)
        return faults


def _fault(dice: random.Random) -> dict[str, Any]:
    api = dice.choice(_TRANSACTIONAL if dice.random() < 0.8 else _OTHERS)
    chosen: dict[str, Any] = {"api": api, "nth": dice.randint(1, 8), "times": dice.choice((1, 1, 2))}
    do = dice.choice(_HAPPENINGS)
    if do.startswith("move") and api in ("Metadata", "Fetch", "InitProducerId"):
        do = "disconnect"
    if do == "delay":
        chosen["ms"] = dice.choice(_DELAYS_MS)
    return {"do": do, "when": dice.choice(("before", "after")), **chosen}


@dataclass
class Outcome:
    """The result. `stuck` says what did not go on; `errors` are those that the client told its
    application, in their order."""

    lost: list[int] = field(default_factory=list)
    duplicated: list[int] = field(default_factory=list)
    stuck: str = ""
    errors: list[str] = field(default_factory=list)

    @property
    def exactly_once(self) -> bool:
        return self.kind == "exactly once"

    @property
    def kind(self) -> str:
        """The worst of it; records that are missing because it is stuck are not lost."""
        if self.duplicated:
            return "duplicated"
        if self.stuck:
            return "stuck"
        return "lost" if self.lost else "exactly once"

    def __str__(self) -> str:
        match self.kind:
            case "duplicated":
                return f"duplicated {self.duplicated}"
            case "stuck":
                return f"stuck: {self.stuck}"
            case "lost":
                return f"lost {self.lost}"
        return "exactly once"
