"""Members of a share group, while what they depend on goes away and comes back."""

from __future__ import annotations

from collections import Counter

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.hunt.campaign import campaign
from mockbroker.clients.hunt.journal import Acknowledged, Delivered, Happened
from mockbroker.clients.hunt.judging import judge
from mockbroker.clients.hunt.manners import SHARE_GROUPS
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step

from .. import needs

MEMBERS = ("member-0", "member-1", "member-2")
BROKERS = (1, 2, 3)
SENDS = 12
EACH = 5


def plan() -> Plan:
    """Three members accept what a producer writes meanwhile, and each broker restarts in its turn: the first
    as soon as a member has something to commit."""
    sends = tuple(
        Step("send", 100, {"topic": "t", "what": "plain", "partition": number % 3, "count": EACH})
        for number in range(SENDS)
    )
    fields = {"shares": ["t"], "group": "g", "consumer": {"share.acknowledgement.mode": "explicit"}}
    works = tuple(Step("work", 20, {"ends": "commit"}) for _ in range(12))
    restarts = [
        Step(do, after_ms, {"broker": broker}, {"user": MEMBERS[0], "call": "commit", "nth": 2 * broker})
        for broker in BROKERS
        for do, after_ms in (("stop-broker", 0), ("start-broker", 300))
    ]
    return Plan(
        1,
        "4.4",
        len(BROKERS),
        (PlannedTopic("t", 3),),
        (
            PlannedUser("producer", "producer", {"acks": "all", "enable.idempotence": True}, {}, sends),
            *(PlannedUser(name, "share-member", {}, fields, works) for name in MEMBERS),
        ),
        tuple(restarts),
        {**SHARE_GROUPS, "default.replication.factor": str(len(BROKERS))},
    )


@pytest.mark.long
@pytest.mark.needs(*needs.JAVA)
@pytest.mark.trio
async def test_each_record_is_accepted_once_while_brokers_restart() -> None:
    async with campaign(command_for("java"), 1) as played:
        outcome = await played.lanes[0].run(plan())
    assert [str(each) for each in judge(outcome)] == []
    journal = outcome.journal
    restarted = Counter(e.what.split()[0] for e in journal.of(Happened) if not e.why_not)
    assert restarted["stop-broker"] == restarted["start-broker"] == len(BROKERS)
    written = {(topic, p, e.offset) for (topic, p), records in outcome.logs.items() for e in records}
    assert len(written) > SENDS * EACH
    accepted = Counter(
        (told.topic, told.partition, offset)
        for told in journal.of(Acknowledged)
        for offset in told.offsets
        if told.by == "callback" and told.error is None
    )
    assert accepted == Counter(written)
    assert {e.user for e in journal.of(Delivered)} == {*MEMBERS}
