"""Readable differences between expected and actual answers."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from ..rig.normalise import IDENTITY

Steps = list[list[Any]]
_ABSENT, _NO_STEP = object(), object()
_NAMES = {id(_ABSENT): "absent", id(_NO_STEP): "no such step"}


def differing(expected: Any, got: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """The paths at which two values differ, with both values; missing parts are None."""
    if isinstance(expected, dict) and isinstance(got, dict):
        found = []
        for key in [*expected, *(key for key in got if key not in expected)]:
            left, right = expected.get(key, _ABSENT), got.get(key, _ABSENT)
            found += differing(left, right, f"{path}.{key}" if path else str(key))
        return found
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            each
            for index, (left, right) in enumerate(zip(expected, got, strict=True))
            for each in differing(left, right, f"{path}[{index}]")
        ]
    if isinstance(expected, list) and isinstance(got, list):
        return list(_aligned(expected, got, path))
    return [] if expected == got and type(expected) is type(got) else [(path, expected, got)]


def _aligned(expected: list[Any], got: list[Any], path: str) -> Iterator[tuple[str, Any, Any]]:
    """Lists of different lengths: what one has and the other lacks does not shift the rest."""
    wanted, given = [_identity(each) for each in expected], [_identity(each) for each in got]
    for _, a, b, c, d in SequenceMatcher(None, wanted, given, autojunk=False).get_opcodes():
        for index, (left, right) in enumerate(zip_longest(expected[a:b], got[c:d], fillvalue=_ABSENT)):
            yield from differing(left, right, f"{path}[{(a if index < b - a else c) + index}]")


def _identity(item: Any) -> str:
    """What an item of a list is about, or all of it."""
    about = {key: item[key] for key in IDENTITY if key in item} if isinstance(item, dict) else None
    return json.dumps(about or item, sort_keys=True)


def _text(value: Any) -> str:
    return _NAMES.get(id(value)) or json.dumps(value, ensure_ascii=False)


def lines(expected: Steps, got: Steps) -> list[str]:
    """One line for each difference: the step's label, where in its answer, expected, got."""
    return [
        f"{where}: expected {_text(left)}, got {_text(right)}"
        for where, left, right in compared(expected, got)
    ]


def compared(expected: Steps, got: Steps) -> Iterator[tuple[str, Any, Any]]:
    """Each difference: the step's label and where in its answer, expected, got.

    Steps are matched by label, so a missing or an additional one does not shift the rest.
    """
    wanted, given = [each[0] for each in expected], [each[0] for each in got]
    for kind, a, b, c, d in SequenceMatcher(None, wanted, given, autojunk=False).get_opcodes():
        if kind == "equal":
            for (label, left), (_, right) in zip(expected[a:b], got[c:d], strict=True):
                for path, one, other in differing(left, right):
                    yield (f"{label}: {path}" if path else label), one, other
            continue
        for label, right in got[c:d]:
            yield label, _NO_STEP, right
        for label, left in expected[a:b]:
            yield label, left, _NO_STEP
