"""One seed is one history, and the known bugs are found from random schedules."""

import hashlib
import os
import subprocess
import sys

import pytest

from mockbroker.plan_files import PlanError
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.simulation.consumer_setting import Commit, ConsumerSetting, Reset
from mockbroker.simulation.history import History, draw, happen
from mockbroker.simulation.plan import Options, Plan, Step
from mockbroker.simulation.producer_setting import Generation
from mockbroker.simulation.shrinking import shrink
from mockbroker.simulation.world import World
from tests.properties import examples

SEEDS = examples(40)
PROGRAM = f"""
import hashlib, sys
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
told = hashlib.sha256()
for seed in range({SEEDS}):
    for options in (Options(kafka="2.3"), Options(consumer_groups=seed < 5)):
        history = happen(draw(seed, options), recording=True)
        told.update(repr(history.lines).encode())
print(told.hexdigest())
"""


def first_violation(invariant: str, seeds: int, **options: object) -> History | None:
    for seed in range(seeds):
        history = happen(draw(seed, Options(**options)))  # type: ignore[arg-type]
        if any(each.invariant == invariant for each in history.violations):
            return history
    return None


def how_often(invariant: str, seeds: int, kafka: str) -> int:
    histories = (happen(draw(seed, Options(kafka=kafka, producer=Generation.V0_11))) for seed in range(seeds))
    return sum(any(each.invariant == invariant for each in one.violations) for one in histories)


@pytest.fixture(scope="module")
def digest() -> str:
    """Of what `PROGRAM` tells, told here."""
    told = hashlib.sha256()
    for seed in range(SEEDS):
        for options in (Options(kafka="2.3"), Options(consumer_groups=seed < 5)):
            told.update(repr(happen(draw(seed, options), recording=True).lines).encode())
    return told.hexdigest()


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_seed_is_one_history(hash_seed: str, digest: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == digest


def test_recording_changes_nothing() -> None:
    for seed in range(examples(30)):
        plan = draw(seed, Options(kafka="0.11"))
        quiet, told = happen(plan), happen(plan, recording=True)
        assert (quiet.violations, quiet.requests) == (told.violations, told.requests)


def test_a_plan_survives_its_file() -> None:
    for seed in range(50):
        plan = draw(seed, Options(policies={"undefined-epoch": "log-end-offset"}))
        assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a history"),
        ("[]", "not a history"),
        ('{"schema": "other"}', "not a history"),
        ('{"schema": "mockbroker-history", "version": 9}', "version 9"),
        ('{"schema": "mockbroker-history", "version": 1, "sed": 1}', "'sed'"),
        ('{"schema": "mockbroker-history", "version": 1, "seed": 1}', "consumer"),
    ],
)
def test_what_is_no_plan_is_told(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        Plan.from_json(text)


def test_the_log_start_past_the_followers_data_is_found() -> None:
    """KAFKA-7104"""
    live = {"fetch-log-start-offset": "live"}
    found = first_violation("follower-fetcher-dead", 300, policies=live)
    assert found
    assert "larger than the high watermark" in found.violations[0].text
    fixed = {**live, "follower-log-start-offset": "bounded"}
    assert not first_violation("follower-fetcher-dead", examples(300), policies=fixed)


def test_the_spurious_out_of_order_sequence_is_found() -> None:
    """KIP-185. What is left since KIP-360: a leader that had to begin its log anew where records were deleted
    knows no producer."""
    found = {kafka: how_often("spurious-out-of-order", 100, kafka) for kafka in ("0.11", "2.4")}
    assert found["0.11"] > 10 * found["2.4"]


def test_the_reset_by_a_leader_that_is_cut_off_is_found() -> None:
    """KAFKA-19902: it takes an offset that was committed without its epoch."""
    found = first_violation("reset-without-loss", 300, kafka="3.9", commit=Commit.NO_EPOCH)
    assert found
    assert {"cut-off-broker", "rebalance"} <= {
        each.do for each in shrink(found.plan, "reset-without-loss").steps
    }
    assert not first_violation("reset-without-loss", examples(300), kafka="3.9", commit=Commit.POSITION)


BACK_AT_AN_UNCLEAN_LEADER = (
    Step(0, "rebalance"),
    Step(274, "cut-off-broker", {"broker": 3}),
    Step(416, "produce", {"producer": 0, "count": 1}),
    Step(911, "elect-unclean", {"broker": 3}),
    Step(1407, "rebalance"),
    Step(1650, "rejoin-broker", {"broker": 3}),
    Step(2057, "cut-off-broker", {"broker": 3}),
    Step(2745, "resume-follower", {"broker": 3}),
)
"""3 leads uncleanly, without the record; it is cut off, and 1, which has it, leads uncleanly after it."""
BACK_AT_AN_OLD_LEADER = (
    Step(341, "cut-off-broker", {"broker": 1}),
    Step(1377, "rebalance"),
    Step(3641, "produce", {"producer": 0, "count": 1}),
    Step(5675, "rebalance"),
    Step(7000, "resume-follower", {"broker": 3}),
)
"""1 is cut off, and knows neither the next leader nor what it wrote."""


@pytest.mark.parametrize(
    ("steps", "commit", "said", "lost"),
    [
        (BACK_AT_AN_UNCLEAN_LEADER, Commit.COMBINED, "goes back from 1 to 0", True),
        (BACK_AT_AN_OLD_LEADER, Commit.NO_EPOCH, "says that 1 is out of range", False),
    ],
)
def test_a_leader_that_is_cut_off_excuses_a_reset_by_what_was_lost_when_it_was_elected(
    steps: tuple[Step, ...], commit: Commit, said: str, lost: bool
) -> None:
    consumer = ConsumerSetting(commit, Reset.EARLIEST)
    reset = []
    for seed in range(30):
        plan = Plan(seed, "4.4", consumer=consumer, unclean=True, commit_rate=1.0, steps=steps)
        history = happen(plan, recording=True)
        if any(said in line.what for line in history.lines):
            reset.append("reset-without-loss" not in {each.invariant for each in history.violations})
    assert reset
    assert set(reset) == {lost}


def test_the_reset_by_an_epoch_that_retention_removed_is_found() -> None:
    """KAFKA-19902's own theory, which takes a broker that answers as before KAFKA-7415."""
    before = {"epoch-below-first": "undefined"}
    for commit in (Commit.POSITION, Commit.FRESH_LEADER):
        found = first_violation("reset-without-loss", 100, kafka="3.9", commit=commit, policies=before)
        assert found
        assert "does not know epoch" in found.violations[0].text
        assert not first_violation("reset-without-loss", examples(100), kafka="3.9", commit=commit)


def test_offsets_that_expire_once_they_are_loaded_are_found() -> None:
    """KAFKA-8069, which looks like LinkedIn's second rewind: its coordinator moved, and a group has none."""
    expire = {"loaded-offsets": "expire-at-once"}
    found = first_violation("group-offset-lost", 60, kafka="2.1", policies=expire)
    assert found
    assert "gets -1 as committed offset" in found.violations[0].text
    assert not first_violation("group-offset-lost", examples(60), kafka="2.1")


def test_thousands_of_requests_may_wait_on_a_connection() -> None:
    """Behind one that is parked, they are answered one by one once it is."""
    world = World(draw(0, Options()))
    answers: list[object] = []

    def fetch(max_wait_ms: int) -> FetchRequest:
        asked = FetchPartition(0, partition_max_bytes=1)
        return FetchRequest(
            max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic(partitions=[asked], topic="t")]
        )

    for max_wait_ms in (500, *[0] * 3_000):
        world.network.send("client", 1, ApiKey.FETCH, 11, fetch(max_wait_ms), answers.append)
    world.run_until(400)
    assert not answers
    world.run_until(2_000)
    assert len(answers) == 3_001
    assert None not in answers
