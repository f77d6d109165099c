"""What is configured of topics and groups, and where it comes from."""

from __future__ import annotations

from mockbroker import MockCluster

from .asking import ask


def test_where_values_of_a_topic_come_from() -> None:
    config = {"log.retention.ms": "5000"}
    with MockCluster(brokers=1, config=config, control=True) as cluster:
        cluster.create_topic("orders", config={"cleanup.policy": "compact"})
        status, told = ask("GET", f"{cluster.control_url}/topics/orders/config")
        assert status == 200
        found = {each["name"]: (each["value"], each["source"]) for each in told}
        assert found["cleanup.policy"] == ("compact", "DYNAMIC_TOPIC_CONFIG")
        assert found["retention.ms"] == ("5000", "STATIC_BROKER_CONFIG")
        assert found["max.message.bytes"][1] == "DEFAULT_CONFIG"
        assert [each["name"] for each in told] == sorted(found)
        assert ask("GET", f"{cluster.control_url}/topics/other/config")[0] == 404


def test_where_values_of_a_group_come_from() -> None:
    with MockCluster(brokers=1, control=True) as cluster:
        cluster.configure_group("a/b", {"share.auto.offset.reset": "earliest"})
        told = ask("GET", f"{cluster.control_url}/groups/a%2Fb/config")[1]
        found = {each["name"]: (each["value"], each["source"]) for each in told}
        assert found["share.auto.offset.reset"] == ("earliest", "DYNAMIC_GROUP_CONFIG")
        assert found["share.record.lock.duration.ms"][1] != "DYNAMIC_GROUP_CONFIG"


def test_a_release_without_configurations_of_groups() -> None:
    with MockCluster(kafka="3.6", brokers=1, control=True) as cluster:
        status, told = ask("GET", f"{cluster.control_url}/groups/g/config")
        assert status == 409
        assert "groups have no configuration" in told["error"]
