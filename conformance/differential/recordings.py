"""Differences as JSON: the steps, and what the real broker answered."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .comparing import Difference
from .steps import Sequence, Step

RECORDED: Final = Path(__file__).parent / "recorded"


@dataclass(frozen=True)
class Recorded:
    """One sequence with the answers of a real broker of `kafka`."""

    kafka: str
    signature: str
    sequence: Sequence
    answers: list[Any]
    difference: tuple[tuple[str, Any, Any], ...] = ()
    count: int = 1

    def as_json(self) -> dict[str, Any]:
        kept = {
            "kafka": self.kafka,
            "signature": self.signature,
            "count": self.count,
            "name": self.sequence.name,
            "client_id": self.sequence.client_id,
            "difference": [[path, repr(left), repr(right)] for path, left, right in self.difference],
            "steps": [each.as_json() for each in self.sequence.steps],
            "answers": self.answers,
        }
        return kept if self.sequence.brokers == 1 else {**kept, "brokers": self.sequence.brokers}


def recorded(
    kafka: str,
    signature: str,
    sequence: Sequence,
    answers: list[Any],
    difference: Difference | None,
    count: int,
) -> Recorded:
    parts = difference.parts if difference else ()
    return Recorded(kafka, signature, sequence, answers, parts, count)


def from_json(kept: dict[str, Any]) -> Recorded:
    steps = tuple(Step.from_json(each) for each in kept["steps"])
    sequence = Sequence(kept["name"], steps, kept["client_id"], kept.get("brokers", 1))
    return Recorded(kept["kafka"], kept["signature"], sequence, kept["answers"], (), kept.get("count", 1))


def save(file: Path, found: list[Recorded]) -> None:
    file.write_text(
        "[\n" + ",\n".join(json.dumps(each.as_json(), ensure_ascii=True) for each in found) + "\n]\n"
    )


def load(file: Path) -> list[Recorded]:
    return [from_json(each) for each in json.loads(file.read_text())]
