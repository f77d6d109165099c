"""The few steps that a difference takes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from .comparing import Difference
from .steps import Sequence, Step

_LIKELY: Final = frozenset({"create_topics", "init_producer_id"})
"""What most differences need before the step that shows them."""
Attempt = Callable[[Sequence], Difference | None]


def shrunk(sequence: Sequence, difference: Difference, attempt: Attempt, limit: int = 14) -> Sequence:
    """A shorter sequence whose first difference has the same signature, after at most `limit` attempts."""
    left = limit

    def same(candidate: Sequence) -> bool:
        nonlocal left
        left -= 1
        found = attempt(candidate)
        return found is not None and found.signature == difference.signature

    cut = replace(sequence, steps=sequence.steps[: difference.step + 1])
    if len(cut.steps) < len(sequence.steps) and same(cut):
        sequence = cut
    last = sequence.steps[-1]
    for kept in ((), sequence.steps[:1], tuple(each for each in sequence.steps[:-1] if each.api in _LIKELY)):
        if len(kept) + 1 < len(sequence.steps) and same(replace(sequence, steps=(*kept, last))):
            sequence = replace(sequence, steps=(*kept, last))
            break
    size = max(1, len(sequence.steps) // 2)
    while left > 0:
        at = 0
        while at < len(sequence.steps) and left > 0:
            candidate = replace(sequence, steps=sequence.steps[:at] + sequence.steps[at + size :])
            if candidate.steps and same(candidate):
                sequence = candidate
            else:
                at += size
        if size == 1:
            break
        size //= 2
    for index in range(len(sequence.steps) - 1, -1, -1):
        for simpler in _simpler(sequence.steps[index]):
            if left <= 0:
                return sequence
            candidate = replace(
                sequence, steps=(*sequence.steps[:index], simpler, *sequence.steps[index + 1 :])
            )
            if same(candidate):
                sequence = candidate
                break
    return sequence


def _simpler(step: Step) -> Iterator[Step]:
    """The same request with one element of one list left out."""
    for fields in _without_one(step.fields):
        yield replace(step, fields=fields)


def _without_one(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, each in value.items():
            for simpler in _without_one(each):
                yield {**value, key: simpler}
    elif isinstance(value, list):
        if len(value) > 1 and isinstance(value[0], dict):
            for index in range(len(value)):
                yield value[:index] + value[index + 1 :]
        for index, each in enumerate(value):
            for simpler in _without_one(each):
                yield [*value[:index], simpler, *value[index + 1 :]]
