"""What plans have besides: leaders that can move, a broker that stays away, members that think or change
what they subscribe to."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.hunt.campaign import campaign
from mockbroker.clients.hunt.drawing import draw
from mockbroker.clients.hunt.drawn_calls import calls_of
from mockbroker.clients.hunt.events import happen
from mockbroker.clients.hunt.journal import Called, Happened, Journal
from mockbroker.clients.hunt.judging import judge
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step, looks_for_new
from mockbroker.clients.hunt.scene import Scene, options
from mockbroker.clients.hunt.stage import Outcome, Patience
from mockbroker.server.serving import serve

ALL = ("groups", "transactions", "idempotence", "send-offsets")
TOPIC = PlannedTopic("t", 3, replicas=3)
PLAN = Plan(1, "4.4", 3, (TOPIC,), (), config={"broker.session.timeout.ms": "200"})
PRODUCER = {"acks": "all", "enable.idempotence": True}
MEMBER: dict[str, Any] = {
    "topics": ["t"],
    "group": "g",
    "commits": "position",
    "fails": False,
    "consumer": {"max.poll.interval.ms": 6_000},
}
EVERYWHERE = [Step("send", fields={"topic": "t", "what": "plain", "partition": each}) for each in range(3)]
USERS = (
    PlannedUser("producer", "producer", PRODUCER, steps=(*EVERYWHERE, Step("flush"), *EVERYWHERE)),
    PlannedUser("member", "member", {}, MEMBER, (Step("poll", fields={"times": 20}), Step("commit"))),
)
PATIENT = Patience(settle_s=90)
"""For busy machines: who reads on is not waited for."""
IN_BETWEEN = {"user": "producer", "call": "flush"}


def test_what_is_drawn_besides() -> None:
    plans = [draw(seed, ALL) for seed in range(600)]
    replicas = Counter((plan.brokers, topic.replicas) for plan in plans for topic in plan.topics)
    assert set(replicas) == {(1, 1), (3, 1), (3, 3)}
    assert replicas[3, 3] > replicas[3, 1]
    lost = [(plan, step) for plan in plans for step in plan.steps if step.do == "lose-broker"]
    for_good = [(plan, step) for plan, step in lost if step.fields.get("for_good", True)]
    assert 20 < len(for_good) < len(lost)
    assert {topic.replicas for plan, _ in for_good for topic in plan.topics} == {3}
    assert {step.fields["how"] for _, step in for_good} == {"stop", "kill", "hang"}
    assert {name for _, step in lost for name in step.fields} == {
        *("how", "for_good", "broker", "group", "transactional_id", "topic", "partition")
    }


def test_what_waits_for_a_call_waits_for_one_that_the_plan_makes() -> None:
    for plan in [draw(seed, ALL) for seed in range(600)]:
        calls = {user.name: calls_of(user) for user in plan.users}
        for step in plan.steps:
            if step.do == "lose-broker" and step.on:
                assert step.on["nth"] <= calls[step.on["user"]][step.on["call"]]


def test_faults_are_aimed_at_what_members_of_either_protocol_ask() -> None:
    can = (*ALL, "consumer-protocol")
    plans = [draw(seed, can, workload="members") for seed in range(400)]
    asked: dict[str, set[str]] = {"classic": set(), "consumer": set()}
    for plan in plans:
        member = next(user for user in plan.users if user.kind == "member")
        protocol = member.fields["consumer"].get("group.protocol", "classic")
        asked[protocol].update(str(step.fields.get("api", "")) for step in plan.steps)
    assert "ConsumerGroupHeartbeat" in asked["consumer"] - asked["classic"]
    assert {"JoinGroup", "SyncGroup", "Heartbeat"} <= asked["classic"] - asked["consumer"]


def test_who_is_to_find_what_is_added_looks_for_it_soon() -> None:
    plans = [draw(seed, (*ALL, "patterns"), workload="members") for seed in range(600)]
    added = [plan for plan in plans if {step.do for step in plan.steps} & {"add-partitions", "add-topic"}]
    assert {step.do for plan in added for step in plan.steps} >= {"add-partitions", "add-topic"}
    assert all(looks_for_new(plan) for plan in added)
    assert {plan.racks for plan in plans if plan not in added and looks_for_new(plan)} == {True}


def test_members_wait_for_a_broker_that_hangs_no_longer_than_the_hunt_does() -> None:
    plans = [draw(seed, ALL, workload="members") for seed in range(600)]
    hangs = [plan for plan in plans if any(step.fields.get("how") == "hang" for step in plan.steps)]
    members = [
        user for plan in hangs for user in plan.users if user.kind == "member" and user.fields["group"]
    ]
    assert members
    assert {user.fields["consumer"]["max.poll.interval.ms"] for user in members} == {6_000}


def test_only_who_waits_for_all_replicas_is_told_of_them() -> None:
    plans = [draw(seed, ALL) for seed in range(600)]
    told = [
        plan
        for plan in plans
        if any(step.fields.get("when") == "after" and "error" in step.fields for step in plan.steps)
    ]
    assert told
    assert not any(user.config.get("acks") == "1" for plan in told for user in plan.users)


def test_members_subscribe_to_other_topics_if_their_client_can_and_some_think_for_too_long() -> None:
    def lives(*more: str) -> list[PlannedUser]:
        plans = [draw(seed, {*ALL, *more}, workload="members") for seed in range(200)]
        return [user for plan in plans for user in plan.users if user.kind == "member"]

    assert not any(step.do == "resubscribe" for user in lives() for step in user.steps)
    subscribe = [
        (user, step)
        for user in lives("resubscribe", "patterns")
        for step in user.steps
        if step.do == "resubscribe"
    ]
    assert subscribe
    assert all({*step.fields["topics"]} <= {*user.fields["topics"]} for user, step in subscribe)
    assert not any("pattern" in user.fields for user, _ in subscribe)
    assert not any("group.instance.id" in user.fields["consumer"] for user, _ in subscribe)
    moments, thoughts = list[int](), dict[int, PlannedUser]()
    for user in lives():
        for step in user.steps:
            if step.do == "think" and step.fields["ms"] > 1_000:
                thoughts[step.fields["ms"]] = user
            elif step.do == "think":
                moments.append(step.fields["ms"])
    assert moments
    assert thoughts
    assert all(user.fields["consumer"]["max.poll.interval.ms"] < ms for ms, user in thoughts.items())


@pytest.mark.long
@pytest.mark.trio
async def test_a_right_client_reads_what_its_member_subscribes_to() -> None:
    topics = (replace(TOPIC, name="t"), replace(TOPIC, name="u"))
    sends = [replace(each, fields={**each.fields, "topic": name}) for name in "tu" for each in EVERYWHERE]
    poll, some, all_ = Step("poll", fields={"times": 10}), ["t"], ["t", "u"]
    changes = [Step("resubscribe", 0, {"topics": each}) for each in (some, some, all_, some)]
    life = (poll, *(step for each in changes for step in (each, poll)), Step("commit"))
    users = (
        PlannedUser("producer", "producer", PRODUCER, steps=tuple(sends)),
        PlannedUser("member", "member", {}, {**MEMBER, "topics": all_}, life),
    )
    async with campaign(command_for("confluent-kafka"), 1, patience=PATIENT) as drivers:
        outcome = await drivers.lanes[0].run(replace(PLAN, topics=topics, users=users))
    assert judge(outcome) == []
    asked = [each.fields["topics"] for each in outcome.journal.of(Called) if each.verb == "subscribe"]
    assert asked == [all_, some, some, all_, some, all_]


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


@pytest.mark.trio
async def test_a_follower_that_was_paused_fetches_again_in_the_end() -> None:
    steps = tuple(
        Step("pause-follower", 0, {"topic": "t", "partition": 0, "broker": each}) for each in (1, 2, 3)
    )
    plan = replace(PLAN, steps=(*steps, Step("pause-follower", 0, {**steps[0].fields, "topic": "gone"})))
    async with serve(**options(plan)) as cluster:
        scene = Scene(cluster, Outcome(plan, Journal()))
        await scene.events()

        def states() -> set[str]:
            return {each.state for each in cluster.replicas("t", 0)}

        assert states() == {"leader", "paused"}
        scene.repair()
        assert "paused" not in states()
        await scene.write("t", 0, b"1", "probe", 1)


@pytest.mark.trio
async def test_a_broker_is_lost_by_what_it_is_in_charge_of() -> None:
    leads = {"topic": "t", "partition": 0}
    async with serve(**options(PLAN)) as cluster:
        Scene(cluster, outcome := Outcome(PLAN, Journal()))
        leader = cluster.topic("t").partitions[0].leader
        assert (
            await happen(cluster, outcome, "lose-broker", {**leads, "how": "stop", "for_good": False}) == ""
        )
        assert outcome.lost == {}
        assert cluster.topic("t").partitions[0].leader != leader
        assert await happen(cluster, outcome, "keep-away", {}) == ""
        assert outcome.lost == {leader: "stop"}
        assert "only one" in await happen(cluster, outcome, "lose-broker", {"group": "g", "how": "kill"})


@pytest.mark.parametrize("how", ["stop", "kill", "hang"])
@pytest.mark.long
@pytest.mark.trio
async def test_a_right_client_does_without_a_broker(how: str) -> None:
    steps = (Step("lose-broker", 0, {"broker": 1, "how": how}, IN_BETWEEN),)
    async with campaign(command_for("confluent-kafka"), 1, patience=PATIENT) as drivers:
        outcome = await drivers.lanes[0].run(replace(PLAN, users=USERS, steps=steps))
    assert outcome.lost == {1: how}
    assert judge(outcome) == []


@pytest.mark.parametrize("error", ["REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"])
@pytest.mark.long
@pytest.mark.trio
async def test_a_right_client_writes_once_what_is_said_to_have_failed(error: str) -> None:
    fault = {"do": "error", "when": "after", "api": "Produce", "error": error, "times": 1}
    async with campaign(command_for("confluent-kafka"), 1, patience=PATIENT) as drivers:
        outcome = await drivers.lanes[0].run(replace(PLAN, users=USERS, steps=(Step("fault", 0, fault),)))
    assert judge(outcome) == []
    assert all(len(records) == len({each.mark for each in records}) for records in outcome.logs.values())
