"""Files of sequences, a line for each: the steps, and what the real broker answered."""

from collections.abc import Sequence as Many
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...plan_files import Row, Schema, as_row
from .steps import Sequence, Step

RECORDED: Final = Path(__file__).parent / "recorded"
SEQUENCES: Final = Schema("mockbroker-sequences", 1, "a file of sequences", unversioned=True)


@dataclass(frozen=True)
class Recorded:
    """One sequence with the answers of a real broker of `kafka`."""

    kafka: str
    signature: str
    sequence: Sequence
    answers: list[Any]
    difference: tuple[tuple[str, Any, Any], ...] = ()
    count: int = 1

    def as_json(self) -> Row:
        kept = {
            "kafka": self.kafka,
            "signature": self.signature,
            "count": self.count,
            "name": self.sequence.name,
            "client_id": self.sequence.client_id,
            "difference": [[path, repr(left), repr(right)] for path, left, right in self.difference],
            "steps": [as_row(each) for each in self.sequence.steps],
            "answers": self.answers,
        }
        return kept if self.sequence.brokers == 1 else {**kept, "brokers": self.sequence.brokers}


def from_json(kept: Row) -> Recorded:
    """KeyError, PlanError."""
    steps = tuple(SEQUENCES.built(Step, each) for each in kept["steps"])
    sequence = Sequence(kept["name"], steps, kept["client_id"], kept.get("brokers", 1))
    return Recorded(kept["kafka"], kept["signature"], sequence, kept["answers"], (), kept.get("count", 1))


def save(file: Path, found: Many[Recorded]) -> None:
    file.write_text(SEQUENCES.text({}, [each.as_json() for each in found]))


def load(file: Path) -> list[Recorded]:
    """OSError, KeyError, PlanError."""
    _, rows = SEQUENCES.read(file.read_text())
    return [from_json(each) for each in rows]
