"""Many seeds: the same rows however they are run, and honest counts of them."""

import pytest

from mockbroker.simulation import workers
from mockbroker.simulation.exploring import COLUMNS, Summary, Variant, run, variants, wilson
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
from mockbroker.simulation.shrinking import shrink
from mockbroker.simulation.timeline import VIOLATION, until

LIVE = Options(policies={"fetch-log-start-offset": "live"})


def test_processes_find_what_one_finds() -> None:
    seeds = range(6 * workers.CHUNK)
    compared = variants(LIVE, "both")
    together = [row for rows in workers.explore(compared, seeds, 2) for row in rows]
    alone = {variant.name: list(run(variant, seeds)) for variant in compared}
    assert {name: [row for row in together if row["variant"] == name] for name in alone} == alone
    # Seeds are through under every variant before others begin: whoever stops early can compare.
    assert [row["variant"] for row in together[: 2 * workers.CHUNK]] == [
        name for name in alone for _ in range(workers.CHUNK)
    ]
    assert set(together[0]) == set(COLUMNS)


@pytest.mark.parametrize(
    ("fixed", "names"),
    [("no", ["own"]), ("yes", ["fixed"]), ("both", ["own", "fixed"])],
)
def test_what_is_compared(fixed: str, names: list[str]) -> None:
    assert [each.name for each in variants(Options(), fixed)] == names


def test_each_fix_stands_alone_and_policies_win() -> None:
    alone = {each.name: each.options.policies for each in variants(LIVE, "each")}
    assert alone["follower-log-start-offset=bounded"] == {
        "follower-log-start-offset": "bounded",
        "fetch-log-start-offset": "live",
    }
    assert alone["fixed"]["fetch-log-start-offset"] == "live"


def test_nothing_else_can_be_compared() -> None:
    with pytest.raises(ValueError, match="not 'maybe'"):
        variants(Options(), "maybe")


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    # Values from tables of the interval.
    [
        (0, 100, 0.0, 0.036995),
        (5, 100, 0.021543, 0.111752),
        (50, 100, 0.403832, 0.596168),
        (1, 1, 0.206543, 1.0),
    ],
)
def test_intervals(hits: int, runs: int, low: float, high: float) -> None:
    assert wilson(hits, runs) == pytest.approx((low, high), abs=1e-5)


def test_a_summary_counts_runs_not_violations() -> None:
    summary = Summary()
    rows = [
        {"variant": "own", "seed": 7, "requests": 10, "violations": ["a", "b"]},
        {"variant": "own", "seed": 3, "requests": 10, "violations": ["a"]},
        {"variant": "own", "seed": 1, "requests": 5, "violations": []},
    ]
    summary.add(rows)
    assert summary.invariants == ["a", "b"]
    count = summary.counts["own", "a"]
    assert (count.runs, count.violations, count.first_seed, summary.requests) == (3, 2, 3, 25)


def test_a_violation_shrinks_to_what_makes_it() -> None:
    """KAFKA-7104: a follower that is slow, a log start that moves, and records on both sides of it."""
    (seed,) = [
        row["seed"]
        for row in run(Variant("own", LIVE), range(300))
        if "follower-fetcher-dead" in row["violations"]
    ][:1]
    plan = draw(seed, LIVE)
    small = shrink(plan, "follower-fetcher-dead")
    kinds = {each.do for each in small.steps}
    assert {"produce", "slow-follower"} <= kinds
    assert small.purges or "delete-records" in kinds
    assert len(small.steps) < len(plan.steps)
    lines = until(happen(small, recording=True).lines, "follower-fetcher-dead")
    assert lines[-1].who == VIOLATION
    assert "larger than the high watermark" in lines[-1].what


def test_what_is_not_violated_does_not_shrink() -> None:
    with pytest.raises(ValueError, match="seed 0 does not violate written-twice"):
        shrink(draw(0, LIVE), "written-twice")
