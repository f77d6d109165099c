"""Histories that violate an invariant in the simulator, over TCP with real clients. They take their time."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.replay import Client, Replayed, missing, open_client, play
from mockbroker.clients.replay.watching import entry
from mockbroker.simulation.consumer_setting import Commit, ConsumerSetting
from mockbroker.simulation.history import happen
from mockbroker.simulation.plan import Plan, Step
from tests.cli.test_replay import KAFKA_7104
from tests.simulation.test_offsets_topic import MOVED

PRODUCER, CONSUMER_2 = 0, 2
KAFKA_19902 = Plan(
    seed=1,
    kafka="3.9",
    consumer=ConsumerSetting(Commit.NO_EPOCH),
    commit_rate=1.0,
    steps=(
        Step(0, "move-leader", {"topic": 0}),
        Step(0, "cut-client", {"client": PRODUCER, "broker": 2}),
        Step(0, "cut-client", {"client": CONSUMER_2, "broker": 2}),
        Step(100, "rebalance"),
        Step(1000, "cut-off-broker", {"broker": 2}),
        Step(2000, "produce", {"producer": 0, "count": 2}),
        Step(2500, "rebalance"),
        Step(9000, "rebalance"),
        Step(10500, "produce", {"producer": 0, "count": 1}),
    ),
    quiet_ms=3000,
)
"""The first consumer knows only the leader that was cut off; its log ends below what the second committed.
The group has another coordinator, which all of them reach."""


@pytest.fixture(scope="module")
def confluent() -> Iterator[Client]:
    with open_client(command_for("confluent-kafka")) as client:
        yield client


def names(replayed: Replayed) -> set[str]:
    return {each.invariant for each in replayed.violations}


def test_confluent_kafka_falls_as_the_model_does(confluent: Client) -> None:
    assert "reset-without-loss" in {each.invariant for each in happen(KAFKA_19902).violations}
    told: list[tuple[int, str, str]] = []
    replayed = play(KAFKA_19902, confluent, lambda *line: told.append(line))
    assert "reset-without-loss" in names(replayed), told
    assert any(who == "consumer-1" and "offset reset (at offset 2 " in what for _, who, what in told), told
    assert replayed.missing == ()


@pytest.mark.parametrize(
    ("fix", "dead"), [({}, True), ({"follower-log-start-offset": "bounded"}, False)], ids=["own", "fixed"]
)
def test_a_fix_holds_over_tcp_too(confluent: Client, fix: dict[str, str], dead: bool) -> None:
    """KAFKA-7104"""
    plan = replace(KAFKA_7104, policies={**KAFKA_7104.policies, **fix}, quiet_ms=2000)
    assert ("follower-fetcher-dead" in names(play(plan, confluent))) is dead


@pytest.mark.parametrize(("load", "rewinds"), [("stops", True), ("skips", False)])
def test_a_coordinator_that_loads_too_little_over_tcp(confluent: Client, load: str, rewinds: bool) -> None:
    """LinkedIn's first rewind"""
    # A client may take a second to find the leader.
    steps = tuple(replace(each, at_ms=2 * each.at_ms) for each in MOVED)
    plan = Plan(1, "4.4", {"offsets-load": load}, commit_rate=1.0, steps=steps, quiet_ms=2000)
    violated = names(play(plan, confluent))
    assert bool(violated & {"group-offset-back", "group-offset-lost"}) is rewinds
    assert ("read-again-after-commit" in violated) is rewinds


def test_a_compacted_log_over_tcp(confluent: Client) -> None:
    # What is sent before the producer has found the leader leaves in one batch with what is sent then.
    sent_ms = (0, 3_000, 3_300, 3_600)
    steps = (
        *(Step(at_ms, "produce", {"producer": 0, "count": 4}) for at_ms in sent_ms),
        *(Step(4_200, "clean-log", {"broker": broker, "active": 1}) for broker in (1, 2, 3)),
        Step(4_700, "rebalance"),
    )
    told: list[str] = []
    plan = Plan(seed=1, kafka="4.4", cleanup="compact", steps=steps, quiet_ms=3_000)
    replayed = play(plan, confluent, lambda at_ms, who, what: told.append(what))
    assert not replayed.violations, told
    assert sum("cleans" in what and "nothing" not in what for what in told) == 3
    assert any("reads offsets" in what for what in told)


@pytest.mark.parametrize("name", ["aiokafka", "java"])
def test_any_client_stands_in_for_the_model(name: str) -> None:
    steps = (
        Step(0, "rebalance"),
        Step(500, "produce", {"producer": 0, "count": 2}),
        Step(2_500, "rebalance"),
    )
    told: list[str] = []
    with open_client(command_for(name)) as client:
        plan = Plan(1, "4.4", commit_rate=1.0, steps=steps, quiet_ms=1_000)
        replayed = play(plan, client, lambda at_ms, who, what: told.append(what))
    assert not replayed.violations, told
    assert any("acknowledged at offset 1" in what for what in told), told
    assert any("reads offsets" in what and "epoch 0" in what for what in told), told


def test_what_a_client_can_not_do_is_said(confluent: Client) -> None:
    plan = replace(KAFKA_19902, consumer=ConsumerSetting(Commit.MAX_EPOCH))
    assert any("max-epoch" in each for each in missing(plan, confluent))


def test_an_entry_is_found_wherever_it_stands() -> None:
    body = {"groups": [{"topics": [{"partitions": [{"committed_offset": 7}]}]}], "topics": []}
    assert entry(body, "committed_offset") == {"committed_offset": 7}
    with pytest.raises(KeyError):
        entry(body, "offset")
