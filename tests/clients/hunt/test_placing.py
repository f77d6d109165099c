"""Steps of the cluster come when what they wait for has come: a call, or a request on which a fault acts."""

from typing import Any, cast

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.hunt.campaign import campaign
from mockbroker.clients.hunt.correspondence import fields
from mockbroker.clients.hunt.drawing import draw_application
from mockbroker.clients.hunt.events import happen
from mockbroker.clients.hunt.journal import Happened
from mockbroker.clients.hunt.judging import judge
from mockbroker.clients.hunt.placing import NOTED, Acted
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step
from mockbroker.clients.hunt.stage import PATIENCE, Stage
from mockbroker.server.serving import serve

NAME = "transactions-0"
TOPIC = PlannedTopic("t", 1)


def transact(commits: bool) -> Step:
    return Step("transact", fields={"sends": [["t", 0, "plain"]], "commits": commits})


def on(call: str, nth: int = 1) -> dict[str, Any]:
    return {"user": NAME, "call": call, "nth": nth}


STEPS = (
    Step(
        "fault",
        0,
        {"do": "error", "api": "EndTxn", "error": "NOT_COORDINATOR", "client_id": "transactions-*", "nth": 1},
        on("abort-transaction"),
        "refused",
    ),
    Step("fault", 5, {"do": "disconnect", "api": "FindCoordinator", "nth": 1}, {"fault": "refused"}, "lost"),
    Step("add-partitions", 0, {"topic": "t", "by": 1}, {"fault": "lost"}),
    Step("close-idle", 0, {}, on("abort-transaction", 7)),
    Step("fault", 0, {"do": "delay", "ms": 0, "api": "Produce"}),
)


@pytest.mark.trio
async def test_a_lookup_after_an_abort_that_was_refused() -> None:
    user = PlannedUser(
        NAME,
        "transactions",
        {"transactional.id": "x", "transaction.timeout.ms": 10_000, "acks": "all"},
        steps=(transact(True), transact(False), *[transact(True)] * 3),
    )
    async with campaign(command_for("confluent-kafka"), 1) as drivers:
        outcome = await drivers.lanes[0].run(Plan(1, "4.4", 3, (TOPIC,), (user,), STEPS))
    assert judge(outcome) == []
    acted = [each for each in outcome.journal.of(Acted) if each.step.name]
    assert [(each.step.name, each.api, each.client_id) for each in acted] == [
        ("refused", "EndTxn", NAME),
        ("lost", "FindCoordinator", NAME),
    ]
    assert acted[0].state == "transaction Ongoing"
    happened = [each.what for each in outcome.journal.of(Happened)]
    assert happened.index(acted[0].what) > happened.index(str(STEPS[0]))
    assert happened.index(str(STEPS[2])) > happened.index(acted[1].what)
    assert len(outcome.logs) == 2
    never = [each for each in outcome.journal.of(Happened) if each.what == str(STEPS[3])]
    assert [each.why_not for each in never] == ["what it waits for never came"]
    assert len([each for each in outcome.journal.of(Acted) if each.step is STEPS[4]]) == NOTED


@pytest.mark.trio
async def test_a_partition_that_is_added_to_the_input_of_a_processor() -> None:
    topics = (PlannedTopic("in", 1), PlannedTopic("out", 2))
    sends = Step("send", 300, {"topic": "in", "what": "plain", "partition": 3, "count": 3})
    feeder = PlannedUser("feeder", "producer", {"acks": "all"}, steps=(sends,))
    processor = PlannedUser(
        "processor-0",
        "processor",
        {"transactional.id": "processor-0", "transaction.timeout.ms": 10_000, "acks": "all"},
        {"from": "in", "to": "out", "group": "g", "topics": ["in"], "consumer": {}},
        tuple(Step("round", 300) for _ in range(6)),
    )
    steps = (Step("add-partitions", 0, {"topic": "in", "by": 3}),)
    async with campaign(command_for("confluent-kafka"), 1) as drivers:
        outcome = await drivers.lanes[0].run(Plan(1, "4.4", 1, topics, (feeder, processor), steps))
    assert len(outcome.logs["in", 3]) == 3
    assert judge(outcome) == []
    processed = [each.value for each in outcome.logs["out", 1] if each.committed]
    assert len([value for value in processed if value is not None and value.endswith(b":plain:")]) == 3


@pytest.mark.trio
async def test_the_output_of_an_application_has_what_its_input_has() -> None:
    plan = draw_application(0, fields(["in"], ["out", "wide"]), 1)
    async with serve(kafka="4.4", brokers=1) as cluster:
        for topic, partitions in (("in", 1), ("out", 1), ("wide", 4)):
            cluster.create_topic(topic, partitions=partitions)
        outcome = Stage(plan, cast(Any, None), "x", cluster, PATIENCE).outcome
        for topic in ("in", "out"):
            assert await happen(cluster, outcome, "add-partitions", {"topic": topic, "by": 2}) == ""
        counts = {topic: len(cluster.topic(topic).partitions) for topic in ("in", "out", "wide")}
        assert counts == {"in": 3, "out": 5, "wide": 4}


@pytest.mark.trio
async def test_what_operators_do() -> None:
    async with serve(kafka="4.4", brokers=3) as cluster:
        cluster.create_topic("t", partitions=1)
        outcome = Stage(Plan(1, "4.4", 3, (TOPIC,), ()), cast(Any, None), "x", cluster, PATIENCE).outcome
        assert await happen(cluster, outcome, "add-partitions", {"topic": "t", "by": 2}) == ""
        assert len(cluster.topic("t").partitions) == 3
        assert "no topic 'u'" in await happen(cluster, outcome, "add-partitions", {"topic": "u", "by": 2})
        for broker in (2, 3):
            cluster.stop_broker(broker)
        assert await happen(cluster, outcome, "start-brokers", {}) == ""
        assert all(each.online for each in cluster.cluster.brokers.values())
        assert await happen(cluster, outcome, "close-idle", {}) == ""
