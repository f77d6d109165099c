"""What producers went through, found from random schedules: KIP-185's spurious error, KIP-360's three
problems, and what is left of them."""

import functools
from collections.abc import Iterable
from dataclasses import replace

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.simulation.history import History, draw, happen
from mockbroker.simulation.idempotent_producer import Reaction, reaction
from mockbroker.simulation.plan import Options, Plan, Step
from mockbroker.simulation.producer_setting import Generation, ProducerSetting
from tests.properties import examples

ABOUT_PRODUCERS = {
    "aborted-record-committed",
    "aborted-record-read",
    "acknowledged-record-lost",
    "committed-record-aborted",
    "committed-record-skipped",
    "last-stable-offset-stuck",
    "spurious-out-of-order",
    "written-twice",
}
OUT_OF_ORDER, UNKNOWN = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID
ERRORS = tuple(f"raises {each.name}" for each in (OUT_OF_ORDER, UNKNOWN))
IDEMPOTENT_1_0 = Options(kafka="2.3", producer=Generation.V1_0, transactional=False)
TRANSACTIONAL_1_0 = Options(kafka="2.3", producer=Generation.V1_0, transactional=True)
AS_2_3 = {
    "producer-state-retention": "with-records",
    "unknown-producer": "unknown-producer-id",
    "epoch-bump": "by-new-instance",
    "transaction-verification": "none",
}


def found(history: History) -> set[str]:
    return {each.invariant for each in history.violations}


def first(invariant: str, seeds: Iterable[int], options: Options) -> History:
    for seed in seeds:
        history = happen(draw(seed, options))
        if invariant in found(history):
            return history
    pytest.fail(f"no {invariant} within the seeds")


def told(history: History, *whats: str) -> bool:
    """Whether a line of what happened says one of these."""
    lines = happen(history.plan, recording=True).lines
    return any(what in line[2] for line in lines for what in whats)


STORIES = {
    "KIP-185": (
        "spurious-out-of-order",
        range(50),
        Options("0.11", producer=Generation.V0_11, transactional=False),
    ),
    "a retry after its record was deleted": ("written-twice", range(245, 300), IDEMPOTENT_1_0),
    "state that comes back, of few batches": ("acknowledged-record-lost", range(2615, 2650), IDEMPOTENT_1_0),
    "state that comes back, of many batches": ("spurious-out-of-order", range(1310, 1400), IDEMPOTENT_1_0),
    "a zombie whose state was deleted": ("last-stable-offset-stuck", range(340, 400), TRANSACTIONAL_1_0),
    "a zombie that the next instance commits": (
        "aborted-record-committed",
        range(160, 200),
        TRANSACTIONAL_1_0,
    ),
}


@functools.cache
def history_of(story: str) -> History:
    """The first history that is the story."""
    invariant, seeds, options = STORIES[story]
    return first(invariant, seeds, options)


@pytest.mark.parametrize("story", STORIES)
def test_each_story_is_found_and_its_fix_is_one(story: str) -> None:
    """All are over with brokers that forget no producer (2.4)."""
    fixed = replace(history_of(story).plan, kafka="2.4")
    assert not found(happen(fixed)) & ABOUT_PRODUCERS


@pytest.mark.parametrize(
    "options",
    [
        Options("2.4", producer=Generation.V1_0, transactional=False),
        Options("4.4", producer=Generation.V2_5, transactional=False),
        Options("4.4", producer=Generation.V1_0, transactional=True),
        Options("4.4", producer=Generation.V2_5, transactional=True),
    ],
    ids=lambda options: f"{options.kafka}-{options.producer}-{options.transactional}",
)
def test_brokers_that_remember_producers_have_none_of_it(options: Options) -> None:
    committed, seeds = 0, examples(80)
    for seed in range(seeds):
        history = happen(draw(seed, options))
        assert not found(history) & ABOUT_PRODUCERS, seed
        if options.transactional and committed < seeds // 2:  # a history is played again to be told
            committed += told(history, "has committed")
    assert committed >= seeds // 2 or not options.transactional


def test_releases_are_their_policies() -> None:
    """4.4 with the behaviours of 2.3 falls as 2.3 does."""
    history = first(
        "last-stable-offset-stuck", range(200), replace(TRANSACTIONAL_1_0, kafka="4.4", policies=AS_2_3)
    )
    assert told(history, "UNKNOWN_PRODUCER_ID")


def test_a_bumped_epoch_does_not_help_a_retry() -> None:
    """As found: the newer client writes the record twice as well, for it can't know that it was there."""
    newer = replace(IDEMPOTENT_1_0, producer=Generation.V2_5)
    history = first("written-twice", range(245, 300), newer)
    assert told(history, "UNKNOWN_PRODUCER_ID")
    assert "written-twice" not in found(happen(replace(history.plan, kafka="4.4")))


def test_a_bumped_epoch_does_help_against_state_that_comes_back() -> None:
    history = history_of("state that comes back, of few batches")
    (setting,) = history.plan.producers
    newer = (replace(setting, generation=Generation.V2_5),)
    assert not found(happen(replace(history.plan, producers=newer))) & ABOUT_PRODUCERS


def test_a_replica_that_began_late_knows_no_producer() -> None:
    """As found: since 4.1 a client that adds partitions by writing is told of a loss that never happened,
    by a leader that had to begin its log where records were deleted up to (KAFKA-18202)."""
    newest = Options("4.4", producer=Generation.V4_0, transactional=True)
    history = first("spurious-out-of-order", range(375, 450), newest)
    any_sequence = replace(history.plan, policies={"adding-sequence": "any"})
    assert not found(happen(any_sequence)) & ABOUT_PRODUCERS


def test_a_real_loss_is_told_and_is_no_violation() -> None:
    """A producer that holds offsets against the log start tells its application; the newer ones never do."""
    losses = 0
    for seed in range(75, 140):
        history = happen(draw(seed, IDEMPOTENT_1_0))
        if history.plan.unclean and not found(history) and told(history, *ERRORS):
            losses += 1
            (setting,) = history.plan.producers
            newer = (replace(setting, generation=Generation.V2_5),)
            assert not told(happen(replace(history.plan, producers=newer)), *ERRORS)
    assert losses


@pytest.mark.parametrize(
    ("generation", "error", "last_acknowledged", "log_start", "alone", "in_transaction"),
    [
        (Generation.V0_11, OUT_OF_ORDER, 5, 9, Reaction.TELL, Reaction.TELL),
        (Generation.V1_0, UNKNOWN, 5, -1, Reaction.RETRY, Reaction.RETRY),
        (Generation.V1_0, UNKNOWN, 5, 6, Reaction.RESET, Reaction.RESET),
        (Generation.V1_0, UNKNOWN, 5, 5, Reaction.TELL, Reaction.TELL),
        (Generation.V1_0, OUT_OF_ORDER, 5, 6, Reaction.TELL, Reaction.TELL),
        (Generation.V2_5, UNKNOWN, 5, 6, Reaction.BUMP, Reaction.RESET),
        (Generation.V2_5, UNKNOWN, 5, 5, Reaction.BUMP, Reaction.TELL),
        (Generation.V2_5, OUT_OF_ORDER, 5, 6, Reaction.BUMP, Reaction.TELL),
        (Generation.V4_0, OUT_OF_ORDER, 5, 6, Reaction.BUMP, Reaction.TELL),
        (Generation.V4_0, ErrorCode.INVALID_TXN_STATE, 5, 6, Reaction.TELL, Reaction.TELL),
    ],
)
def test_what_each_generation_makes_of_an_error(
    generation: Generation,
    error: ErrorCode,
    last_acknowledged: int,
    log_start: int,
    alone: Reaction,
    in_transaction: Reaction,
) -> None:
    """`log_start` is past the last acknowledged offset where retention took what was acknowledged."""
    assert reaction(generation, error, last_acknowledged, log_start) is alone
    assert reaction(generation, error, last_acknowledged, log_start, transactional=True) is in_transaction


def test_a_batch_out_of_order_waits_for_those_before_it() -> None:
    for generation in (Generation.V1_0, Generation.V2_5, Generation.V4_0):
        assert reaction(generation, OUT_OF_ORDER, 5, 0, next_in_line=False) is Reaction.RETRY
    assert reaction(Generation.V0_11, OUT_OF_ORDER, 5, 0, next_in_line=False) is Reaction.TELL


def test_what_was_in_flight_is_sent_again_one_by_one() -> None:
    """Nothing is replicated, so that all are in flight as the connection is lost."""
    followers = ({"broker": 2}, {"broker": 3})
    plan = Plan(
        seed=1,
        kafka="4.4",
        producers=(ProducerSetting(in_flight=5),),
        steps=(
            Step(0, "produce", {"producer": 0, "count": 1}),
            *(Step(500, "pause-follower", broker) for broker in followers),
            *(Step(550 + each, "produce", {"producer": 0, "count": 1}) for each in range(7)),
            Step(600, "lose-producer-answer", {"producer": 0}),
            *(Step(700, "resume-follower", broker) for broker in followers),
        ),
    )
    history = happen(plan, recording=True)
    assert not history.violations
    said = [line.what.split() for line in history.lines if line.who == "producer-1"]
    heard = [(words[0], int(words[2])) for words in said if words[1] == "records"]
    assert heard == [
        ("sends", 0),
        ("has", 0),
        *(("sends", each) for each in (1, 2, 3, 4, 5)),
        *((what, each) for each in (1, 2, 3, 4) for what in ("sends", "has")),
        *(("sends", each) for each in (5, 6, 7)),
        *(("has", each) for each in (5, 6, 7)),
    ]
