"""Where two brokers' answers to one sequence part, and what to call it."""

import re
from dataclasses import dataclass
from typing import Any

from ..diff import differing
from .steps import Sequence

_INDEX = re.compile(r"\[\d+\]")
_ERROR = re.compile(r"[A-Z][A-Z_]{3,}")
_TOKEN = re.compile(r"[A-Z][A-Z_0-9]{3,}|<[a-z ]+>")


@dataclass(frozen=True)
class Difference:
    """The first step whose answers differ, and all that differs in it."""

    step: int
    api: str
    version: int
    parts: tuple[tuple[str, Any, Any], ...]
    signature: str


def _shown(value: Any) -> str:
    """Enough of a value to tell differences apart: error codes and what closes; else its kind."""
    if isinstance(value, str) and _TOKEN.fullmatch(value):
        return value
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if value in (-1, 0) else "n"
    if isinstance(value, str):
        return "text" if value else "''"
    if isinstance(value, list):
        return f"list of {len(value)}" if len(value) < 2 else "list"
    return "fields" if isinstance(value, dict) else "absent"


def _signature(api: str, parts: list[tuple[str, Any, Any]], mutated: bool) -> str:
    errors = [each for each in parts if each[0].endswith("error_code")]
    path, expected, got = (errors or parts)[0]
    where = _INDEX.sub("[]", path) or "answer"
    return f"{api}{' (malformed)' if mutated else ''} {where}: {_shown(expected)} != {_shown(got)}"


def first_difference(sequence: Sequence, expected: list[Any], got: list[Any]) -> Difference | None:
    """None when all answers are equal. The last answers are those that came late, without a step."""
    for index, (left, right) in enumerate(zip(expected, got, strict=True)):
        parts = differing(left, right)
        if not parts:
            continue
        if index >= len(sequence.steps):
            return Difference(
                index, "late answers", 0, tuple(parts), _signature("late answers", parts, False)
            )
        step = sequence.steps[index]
        signature = _signature(step.api, parts, bool(step.mutations))
        return Difference(index, step.api, step.version, tuple(parts), signature)
    return None
