"""Compacted topics: records with keys that survive, lose records, and replicas that come to differ."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.protocol.filtering import stored_records, with_records
from mockbroker.protocol.record_batch import header_of, records
from mockbroker.simulation import batches
from mockbroker.simulation.consumer_setting import Commit, ConsumerSetting, Reset
from mockbroker.simulation.history import History, draw, happen
from mockbroker.simulation.plan import BOTH, CLEANUPS, COMPACT, DELETE, Options, Plan, Step
from mockbroker.simulation.producer_setting import Generation, ProducerSetting
from mockbroker.simulation.shrinking import shrink
from tests.properties import examples

COMPACTED = Options(compacted=True)


def found(history: History) -> set[str]:
    return {each.invariant for each in history.violations}


@given(first=st.integers(0, 1 << 20), count=st.integers(1, 300), left=st.sets(st.integers(0, 299)))
def test_what_is_left_of_a_batch_is_known(first: int, count: int, left: set[int]) -> None:
    made = batches.make(first, count, 1_000, keyed=True)
    for delta, record in enumerate(records(made)):
        assert record.key == b"abcd"[batches.key_of(first + delta) :][:1]
        assert (record.value is None) == batches.is_tombstone(first + delta)
    whole = batches.read(made)
    assert whole
    assert (list(whole.offsets), list(whole.numbers)) == (
        list(range(count)),
        list(range(first, first + count)),
    )
    kept = [record for record in stored_records(made) if record.offset in left]
    if kept:
        cleaned = batches.read(with_records(header_of(made), kept, 61_000))
        assert cleaned
        assert (cleaned.base_offset, cleaned.end_offset) == (0, count)
        offsets = sorted(each for each in left if each < count)
        assert list(cleaned.offsets) == offsets
        assert list(cleaned.numbers) == [first + offset for offset in offsets]


def test_keys_repeat_and_some_records_are_tombstones() -> None:
    numbers = range(200)
    assert {batches.key_of(number) for number in numbers} == set(range(batches.KEYS))
    assert 20 < sum(map(batches.is_tombstone, numbers)) < 80


def test_some_seeds_have_compacted_topics() -> None:
    plans = [draw(seed, Options()) for seed in range(200)]
    assert {plan.cleanup for plan in plans} == set(CLEANUPS)
    for plan in plans:
        cleans = any(step.do == "clean-log" for step in plan.steps)
        assert cleans == (plan.cleanup in (COMPACT, BOTH))
    assert all(draw(seed, replace(COMPACTED, compacted=False)).cleanup == DELETE for seed in range(50))


def test_cleaners_remove_records_and_lose_none() -> None:
    goes, seeds = 0, examples(60)
    for seed in range(seeds):
        history = happen(draw(seed, COMPACTED), recording=True)
        assert not history.violations, seed
        goes += any(
            line.who.startswith("broker") and "cleans" in line.what and "nothing" not in line.what
            for line in history.lines
        )
    assert goes > seeds / 2


def test_a_deleted_key_comes_back_with_a_replica_that_was_away() -> None:
    """As found: it fetches on behind a tombstone that was removed meanwhile, and keeps what that deleted."""
    plans = (draw(seed, COMPACTED) for seed in range(500))
    plan = next(plan for plan in plans if "replicas-disagree" in found(happen(plan)))
    small = shrink(plan, "replicas-disagree")
    assert sum(step.do == "clean-log" for step in small.steps) >= 2
    assert not happen(replace(small, delete_retention_ms=60_000)).violations


def test_a_compacted_log_that_loses_its_tail_ends_with_its_last_batch() -> None:
    """Else followers would wait for what is in the hole behind it."""
    steps = (
        Step(396, "slow-follower", {"broker": 2, "delay_ms": 417}),
        Step(593, "cut-off-broker", {"broker": 3}),
        *(
            Step(at_ms, "produce", {"producer": 0, "count": n})
            for at_ms, n in ((795, 1), (941, 4), (1246, 4))
        ),
        Step(1268, "produce", {"producer": 0, "count": 1}),
        Step(1542, "clean-log", {"broker": 1, "active": 1}),
        Step(1783, "lose-power", {"broker": 1, "batches": 3}),
    )
    producers = (ProducerSetting(Generation.V0_11, -1),)
    plan = Plan(
        124434,
        "4.4",
        consumer=ConsumerSetting(Commit.COMBINED, Reset.EARLIEST),
        producers=producers,
        cleanup=COMPACT,
        replica_fetch_bytes=150,
        commit_rate=1.0,
        steps=steps,
    )
    history = happen(plan, recording=True)
    assert any("cleans t-0 up to 9: 0, 1, 2, 4, 6 goes" in line.what for line in history.lines)
    assert any("loses 0 to 10" in line.what for line in history.lines)
    assert "follower-fetcher-dead" not in found(history)
