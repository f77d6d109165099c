"""Commits take turns in what they try."""

import itertools

import pytest

from .turns import in_turn, part

CASES = [*"abcdefgh"]


@pytest.mark.parametrize("of", [1, 2, 3, 8])
def test_after_so_many_turns_each_case_was_tried_once(of: int) -> None:
    parts = [part(CASES, of, number) for number in range(7, 7 + of)]
    assert sorted(itertools.chain(*parts)) == CASES
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_out_of_ci_all_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert in_turn(CASES, 3) == CASES


def test_what_a_commit_tries_is_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have to agree."""
    monkeypatch.setenv("CI", "true")
    assert in_turn(CASES, 3) == in_turn(CASES, 3)
    assert set(in_turn(CASES, 3)) <= {*CASES}
