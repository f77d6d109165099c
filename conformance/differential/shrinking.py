"""The few steps that a difference takes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from ...shrinking import fewer, shrink, simpler
from .comparing import Difference
from .steps import Sequence, Step

_LIKELY: Final = frozenset({"create_topics", "init_producer_id"})
"""What most differences need before the step that shows them."""
Attempt = Callable[[Sequence], Difference | None]


def shrunk(sequence: Sequence, difference: Difference, attempt: Attempt, limit: int = 16) -> Sequence:
    """A shorter sequence whose first difference has the same signature, after at most `limit` attempts."""

    def same(candidate: Sequence) -> bool:
        found = attempt(candidate)
        return found is not None and found.signature == difference.signature

    def smaller(candidate: Sequence) -> Iterator[Sequence]:
        for steps in _smaller(candidate.steps, difference.step + 1):
            yield replace(candidate, steps=steps)

    return shrink(sequence, smaller, same, limit)


def _smaller(steps: tuple[Step, ...], needed: int) -> Iterator[tuple[Step, ...]]:
    """At most `needed` steps matter, of which the last shows the difference."""
    if len(steps) > needed:
        yield steps[:needed]
    *before, last = steps
    likely = [each for each in before if each.api in _LIKELY]
    for kept in ([], before[:1], likely, *fewer(before)):
        yield (*kept, last)
    yield from simpler(steps, _simpler)


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
