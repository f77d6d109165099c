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
