"""Leaders of a hunt can move, and one broker may stay away to the end: clients do without it."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.hunt.campaign import campaign
from mockbroker.clients.hunt.drawing import draw
from mockbroker.clients.hunt.events import happen
from mockbroker.clients.hunt.journal import Happened, Journal
from mockbroker.clients.hunt.judging import judge
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step
from mockbroker.clients.hunt.scene import Scene, options
from mockbroker.clients.hunt.stage import Outcome
from mockbroker.server.serving import serve

ALL = ("groups", "transactions", "idempotence", "send-offsets")
TOPIC = PlannedTopic("t", 3, replicas=3)
PLAN = Plan(1, "4.4", 3, (TOPIC,), (), config={"broker.session.timeout.ms": "200"})
PRODUCER = {"acks": "all", "enable.idempotence": True}
MEMBER: dict[str, Any] = {"topics": ["t"], "group": "g", "commits": "position", "fails": False}
EVERYWHERE = [Step("send", fields={"topic": "t", "what": "plain", "partition": each}) for each in range(3)]
USERS = (
    PlannedUser("producer", "producer", PRODUCER, steps=(*EVERYWHERE, Step("flush"), *EVERYWHERE)),
    PlannedUser("member", "member", {}, MEMBER, (Step("poll", fields={"times": 20}), Step("commit"))),
)
IN_BETWEEN = {"user": "producer", "call": "flush"}


def test_what_is_drawn_besides() -> None:
    plans = [draw(seed, ALL) for seed in range(600)]
    replicas = Counter((plan.brokers, topic.replicas) for plan in plans for topic in plan.topics)
    assert set(replicas) == {(1, 1), (3, 1), (3, 3)}
    assert replicas[3, 3] > replicas[3, 1]
    lost = [plan for plan in plans if any(step.do == "lose-broker" for step in plan.steps)]
    assert len(lost) > 20
    assert {topic.replicas for plan in lost for topic in plan.topics} == {3}
    assert {step.fields["how"] for plan in lost for step in plan.steps if step.do == "lose-broker"} == {
        *("stop", "kill", "hang")
    }


def test_only_who_waits_for_all_replicas_is_told_of_them() -> None:
    plans = [draw(seed, ALL) for seed in range(600)]
    told = [
        plan
        for plan in plans
        if any(step.fields.get("when") == "after" and "error" in step.fields for step in plan.steps)
    ]
    assert told
    assert not any(user.config.get("acks") == "1" for plan in told for user in plan.users)


@pytest.mark.trio
async def test_a_leader_moves_only_where_there_are_replicas() -> None:
    for topic, why in ((TOPIC, ""), (replace(TOPIC, replicas=1), "no")):
        plan = replace(PLAN, topics=(topic,))
        async with serve(**options(plan)) as cluster:
            Scene(cluster, outcome := Outcome(plan, Journal()))
            before = cluster.topic("t").partitions[0].leader
            said = await happen(cluster, outcome, "move-leader", {"topic": "t", "partition": 0})
            assert bool(said) == bool(why)
            assert (cluster.topic("t").partitions[0].leader == before) == bool(why)


@pytest.mark.trio
async def test_a_broker_that_is_lost_is_not_started_again_and_no_second_one_is_lost() -> None:
    async with serve(**options(PLAN)) as cluster:
        scene = Scene(cluster, outcome := Outcome(PLAN, Journal()))
        assert await happen(cluster, outcome, "lose-broker", {"broker": 2, "how": "stop"}) == ""
        assert "only one" in await happen(cluster, outcome, "lose-broker", {"broker": 3, "how": "stop"})
        assert await happen(cluster, outcome, "lose-all", {"how": "stop"}) == ""
        await happen(cluster, outcome, "start-brokers", {})
        scene.repair()
        assert {each.leader for each in cluster.topic("t").partitions} <= {1, 3}
        assert [each.what for each in outcome.journal.of(Happened)] == ["all is well, but for broker 2"]


@pytest.mark.parametrize("how", ["stop", "kill", "hang"])
@pytest.mark.long
@pytest.mark.trio
async def test_a_right_client_does_without_a_broker(how: str) -> None:
    steps = (Step("lose-broker", 0, {"broker": 1, "how": how}, IN_BETWEEN),)
    async with campaign(command_for("confluent-kafka"), 1) as drivers:
        outcome = await drivers.lanes[0].run(replace(PLAN, users=USERS, steps=steps))
    assert outcome.lost == {1: how}
    assert judge(outcome) == []


@pytest.mark.parametrize("error", ["REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"])
@pytest.mark.long
@pytest.mark.trio
async def test_a_right_client_writes_once_what_is_said_to_have_failed(error: str) -> None:
    fault = {"do": "error", "when": "after", "api": "Produce", "error": error, "times": 1}
    async with campaign(command_for("confluent-kafka"), 1) as drivers:
        outcome = await drivers.lanes[0].run(replace(PLAN, users=USERS, steps=(Step("fault", 0, fault),)))
    assert judge(outcome) == []
    assert all(len(records) == len({each.mark for each in records}) for records in outcome.logs.values())
