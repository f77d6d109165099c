"""What ConsumerGroupDescribe shows of partitions that a member has yet to give up."""

import pytest

from tests.driving.cluster import configured
from tests.driving.in_memory import InMemoryClient


@pytest.mark.parametrize(
    ("release", "policies", "shown"),
    [("4.2", {}, 1), ("4.3", {}, 2), ("4.2", {"described-revocations": "shown"}, 2)],
)
def test_partitions_that_are_being_revoked(release: str, policies: dict[str, str], shown: int) -> None:
    cluster = configured(release, 1, policies, {})
    cluster.create_topic("t", [[1]] * 2)
    client = InMemoryClient(cluster, 1)

    def beat(member: str, epoch: int, **fields: object) -> None:
        joining = {"rebalance_timeout": 60_000, "subscribed_topic_names": ("t",), "topic_partitions": ()}
        asked = {"group_id": "g", "member_id": member, "member_epoch": epoch, **({} if epoch else joining)}
        client.call("consumer_group_heartbeat", 1, {**asked, **fields})
        cluster.advance(cluster.now_ms + 10_000)

    beat("first", 0)
    owned = [{"topic_id": cluster.topics["t"].id, "partitions": (0, 1)}]
    beat("first", 1, topic_partitions=owned)
    beat("second", 0)
    beat("first", 1)
    (group,) = client.call("consumer_group_describe", 1, {"group_ids": ("g",)})["groups"]
    found = {each["member_id"]: each["assignment"]["topic_partitions"] for each in group["members"]}
    assert found["second"] == []
    (topic,) = found["first"]
    assert len(topic["partitions"]) == shown
