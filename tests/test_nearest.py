"""Suggestions for wrong names: what is suggested, and what that costs."""

import random
import string
from collections.abc import Collection

import pytest

from benchmarks.counting import Steps
from mockbroker.nearest import MOST_COMPARED, MOST_LETTERS, among, near, nearest


@pytest.mark.parametrize(
    ("wrong", "right", "told"),
    [
        ("ordres", ["orders", "payments"], ": did you mean 'orders'?"),
        ("ORDERS", ["orders", "payments"], ": did you mean 'orders'?"),
        ("part", ["partitions", "topics"], ": did you mean 'partitions'?"),
        ("x", ["orders", "payments"], ": choose one of orders, payments"),
        ("x", list(string.ascii_lowercase[:21]), ": did you mean 'x'?"),
        ("9", list(string.ascii_lowercase[:21]), ""),
        ("x", [], ""),
        (7, ["1", "2"], ": choose one of 1, 2"),
        ("", ["a"], ": choose one of a"),
        ("a", ["", "b"], ": choose one of , b"),
        ("x" * 1_000_000, ["x"], ": choose one of x"),
    ],
)
def test_what_is_suggested(wrong: object, right: list[str], told: str) -> None:
    right = right if told != ": did you mean 'x'?" else [*right, "x"]
    assert nearest(wrong, right) == told


def test_of_equally_near_names_it_is_always_the_same() -> None:
    assert near("ab", {"abc", "abd", "abe"}) == "abc"
    assert near("ab", ["abe", "abd", "abc"]) == "abc"


def long_names(count: int, letters: str) -> list[str]:
    source = random.Random(1)
    return ["".join(source.choices(letters, k=100)) for _ in range(count)]


@pytest.mark.parametrize("place", [0, 50, 98])
@pytest.mark.parametrize("typo", ["omitted", "twice", "other", "swapped"])
def test_a_typo_is_found_among_many(place: int, typo: str) -> None:
    names = long_names(1_000, string.ascii_lowercase)
    name = names[500]
    a, b = name[place], name[place + 1]
    new = {"omitted": b, "twice": a + a + b, "other": "#" + b, "swapped": b + a}[typo]
    assert near(name[:place] + new + name[place + 2 :], names) == name


@pytest.mark.parametrize("letters", [string.ascii_lowercase, "ab", "a"])
def test_the_work_has_a_limit(letters: str) -> None:
    """Counted in steps of Python, in which difflib is written."""
    names = long_names(2_000, letters)
    with Steps() as steps:
        near(names[1_000][:50] + "#" + names[1_000][51:], names)
    assert steps.count < 400 * len(names) + 40 * MOST_COMPARED * MOST_LETTERS**2


@pytest.mark.parametrize(
    ("ids", "told"), [([3, 1], ": choose one of 1, 3"), (range(1, 31), ": choose one from 1 to 30"), ([], "")]
)
def test_a_number_is_not_taken_for_a_misspelt_one(ids: Collection[int], told: str) -> None:
    assert among(ids) == told
