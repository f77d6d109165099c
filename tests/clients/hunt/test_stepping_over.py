"""What a consumer can't read may be in a topic that was deleted meanwhile."""

from typing import Any, cast

import pytest

from mockbroker.clients.hunt.events import happen
from mockbroker.clients.hunt.plan import Plan, PlannedTopic
from mockbroker.clients.hunt.stage import PATIENCE, Stage
from mockbroker.server.serving import serve


@pytest.mark.trio
async def test_records_of_a_topic_that_was_created_again_are_known() -> None:
    async with serve(kafka="4.4", brokers=1) as cluster:
        cluster.create_topic("topic-0", partitions=1)
        plan = Plan(1, "4.4", 1, (PlannedTopic("topic-0", 1),), ())
        stage = Stage(plan, cast(Any, None), "x", cluster, PATIENCE)
        for value in (b"1", b"!2"):
            await cluster.produce_async("topic-0", value)
        assert await happen(cluster, stage.outcome, "recreate-topic", {"topic": "topic-0"}) == ""
        await cluster.produce_async("topic-0", b"3")
        assert stage.values_at("topic-0", 0, 0) == [b"3", b"1"]
        assert stage.values_at("topic-0", 0, 1) == [b"!2"]


@pytest.mark.trio
async def test_every_verb_can_happen() -> None:
    async with serve(kafka="4.4", brokers=3) as cluster:
        cluster.create_topic("t", replica_assignment=[[1, 2, 3]])
        plan = Plan(1, "4.4", 3, (PlannedTopic("t", 1),), ())
        outcome = Stage(plan, cast(Any, None), "x", cluster, PATIENCE).outcome
        where = {"topic": "t", "partition": 0, "broker": 3}
        assert await happen(cluster, outcome, "fail-follower", where) == ""
        assert "failed" in [each.state for each in cluster.replicas("t", 0)]
        assert "t-0 knows no producer" in await happen(
            cluster, outcome, "expire-producer", {"topic": "t", "partition": 0}
        )
