"""Applications go on with a topic that was created again, as the documentation of their client says."""

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.hunt.campaign import campaign
from mockbroker.clients.hunt.journal import Opened, Owns
from mockbroker.clients.hunt.judging import judge
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step

TOPIC = PlannedTopic("t", 1)


@pytest.mark.long
@pytest.mark.needs("go")
@pytest.mark.trio
async def test_who_uses_franz_go_begins_anew() -> None:
    send = Step("send", fields={"topic": "t", "what": "plain", "partition": 0})
    written = (send, Step("flush"), Step("flush"), send)
    producer = PlannedUser("producer", "producer", {"acks": "all", "enable.idempotence": True}, steps=written)
    fields = {"topics": ["t"], "group": "g", "commits": "position", "fails": False, "consumer": {}}
    member = PlannedUser("member", "member", {}, fields, (Step("poll", fields={"times": 20}),))
    steps = (Step("recreate-topic", 0, {"topic": "t"}, {"user": "producer", "call": "flush", "nth": 2}),)
    async with campaign(command_for("franz-go"), 1) as drivers:
        outcome = await drivers.lanes[0].run(Plan(1, "4.4", 1, (TOPIC,), (producer, member), steps))
    assert judge(outcome) == []
    assert len([each for each in outcome.journal.of(Opened) if each.user == "producer"]) == 2


@pytest.mark.long
@pytest.mark.trio
async def test_a_topic_that_was_created_again_with_fewer_partitions_is_judged() -> None:
    fields = {"topics": ["t"], "group": "g", "commits": "position", "fails": False, "consumer": {}}
    life = (Step("poll", 500, {"times": 20}), Step("leave-group"))
    steps = (
        Step("add-partitions", 0, {"topic": "t", "by": 1}),
        Step("recreate-topic", 0, {"topic": "t"}, {"user": "member", "call": "close"}),
    )
    member = PlannedUser("member", "member", {}, fields, life)
    async with campaign(command_for("confluent-kafka"), 1) as drivers:
        outcome = await drivers.lanes[0].run(Plan(1, "4.4", 1, (TOPIC,), (member,), steps))
    assert ("t", 1) in {at for each in outcome.journal.of(Owns) for at in each.partitions}
    assert ("t", 1) not in outcome.logs
    assert judge(outcome) == []
