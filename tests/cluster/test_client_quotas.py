"""Client quotas: what brokers count, for whom, and how clients are made to wait."""

from collections.abc import Mapping
from typing import Any

import pytest

from mockbroker.cluster.client_quotas import Rate
from mockbroker.metadata.records import Entity
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Client

from ..driving.cluster import ClusterDriver, configured
from ..driving.network import InMemoryNetwork

ME: Entity = (("client-id", "me"),)
FETCH, PRODUCE, ALTER = 12, 9, 1


class QuotaDriver(ClusterDriver):
    """A cluster with a topic of one partition on each broker, and clients named `me`."""

    def __init__(
        self, release: str = "4.4", brokers: int = 1, config: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(configured(release, brokers, None, config or {}))
        self.network = InMemoryNetwork(self.cluster)
        for broker in self.cluster.brokers:
            self.cluster.create_topic(f"t{broker}", [[broker]])

    def client(self, client_id: str | None = "me", broker: int = 1) -> Client:
        asked = self.cluster.brokers[broker].endpoint
        return Client(asked.host, asked.port, client_id, 60, self.network)

    def quota(self, entity: Entity = ME, /, **values: float | None) -> None:
        named = [{"entity_type": kind, "entity_name": name} for kind, name in entity]
        ops = [{"key": key, "value": value or 0.0, "remove": value is None} for key, value in values.items()]
        fields = {"entries": [{"entity": named, "ops": ops}], "validate_only": False}
        (answer,) = self.client().call("alter_client_quotas", ALTER, fields)["entries"]
        assert answer["error_code"] == "NONE"

    def produce(self, client: Client, size: int = 1000, acks: int = 1, broker: int = 1) -> int:
        """How long the client is told to wait, in ms."""
        records = batch([Record(b"v" * size)])
        topic = {"name": f"t{broker}", "partition_data": [{"index": 0, "records": records}]}
        fields = {"acks": acks, "timeout": 1000, "topic_data": [topic]}
        return int(client.call("produce", PRODUCE, fields)["throttle_time"])

    def fetch(self, client: Client, **more: Any) -> Any:
        part = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
        fields = {"topics": [{"topic": "t1", "partitions": [part]}], "max_bytes": 1 << 20, "replica_id": -1}
        return client.call("fetch", FETCH, {"max_wait": 0, "session_epoch": -1, **fields, **more})

    def wait(self, ms: int) -> None:
        self.network.sleep(ms / 1000)


def test_a_throttled_connection_is_served_when_the_time_is_over(driver: QuotaDriver) -> None:
    driver.quota(producer_byte_rate=100)
    client = driver.client()
    began_ms = driver.cluster.now_ms
    told_ms = driver.produce(client)
    assert told_ms > 0
    assert driver.cluster.now_ms == began_ms
    driver.client().call("api_versions", 0)
    assert driver.cluster.now_ms == began_ms, "other connections are served"
    client.call("api_versions", 0)
    assert driver.cluster.now_ms == began_ms + told_ms


def test_each_broker_counts_for_itself_until_it_restarts() -> None:
    driver = QuotaDriver(brokers=2)
    driver.quota(producer_byte_rate=100)
    first = driver.produce(driver.client())
    assert driver.produce(driver.client(broker=2), broker=2) == first > 0
    assert driver.produce(driver.client()) > first
    driver.cluster.processes.stop(1)
    driver.cluster.processes.start(1)
    assert driver.produce(driver.client()) == first


def test_what_is_old_counts_no_more(driver: QuotaDriver) -> None:
    driver.quota(producer_byte_rate=100)
    first = driver.produce(driver.client())
    driver.wait(5_000)
    assert driver.produce(driver.client()) > first
    driver.wait(11_000)
    assert driver.produce(driver.client()) == first


def test_windows_are_configured() -> None:
    """With two windows of ten seconds, one of them is deemed to be over, as ten of one second are."""
    config = {"quota.window.num": 2, "quota.window.size.seconds": 10}
    told = []
    for driver in (QuotaDriver(), QuotaDriver(config=config)):
        driver.quota(producer_byte_rate=100)
        told.append(driver.produce(driver.client()))
    assert told[0] == told[1] > 0


@pytest.mark.parametrize("change", [{"producer_byte_rate": None}, {"producer_byte_rate": 1e9}])
def test_quotas_change_while_clients_are_connected(change: dict[str, float | None]) -> None:
    driver = QuotaDriver()
    client = driver.client()
    assert driver.produce(client) == 0
    driver.quota(producer_byte_rate=100)
    assert driver.produce(client) > 0
    driver.quota(**change)
    assert driver.produce(client) == 0


def test_a_throttled_fetch_is_empty_and_is_not_counted(driver: QuotaDriver) -> None:
    driver.produce(driver.client("producer"))
    driver.quota(consumer_byte_rate=50)
    throttled = driver.fetch(driver.client())
    assert throttled["throttle_time"] > 0
    assert not throttled["responses"]
    assert driver.fetch(driver.client())["throttle_time"] == throttled["throttle_time"]
    driver.quota(consumer_byte_rate=1000)
    (topic,) = driver.fetch(driver.client())["responses"]
    assert topic["partitions"][0]["records"]


def test_followers_are_not_throttled(driver: QuotaDriver) -> None:
    driver.produce(driver.client("producer"))
    driver.quota(consumer_byte_rate=1)
    assert driver.fetch(driver.client())["throttle_time"] > 0
    assert driver.fetch(driver.client(), replica_id=1)["throttle_time"] == 0


def test_quotas_of_others_and_other_quotas_change_nothing(driver: QuotaDriver) -> None:
    driver.quota((("user", "nobody"),), producer_byte_rate=1)
    driver.quota((("client-id", "nobody"),), producer_byte_rate=1)
    driver.quota(request_percentage=0.001, controller_mutation_rate=0.001, consumer_byte_rate=1)
    assert driver.produce(driver.client()) == 0


def test_an_idle_rate_begins_anew() -> None:
    rate = Rate(windows=11, window_ms=1000)
    rate.add(500, 1_000)
    assert rate.span_ms(1_000) == 10_000
    assert rate.total == 500
    rate.add(500, 9_000)
    assert rate.total == 1000
    assert not rate.idle(19_999)
    assert rate.idle(20_000)
    assert rate.span_ms(20_000) == 10_000
    assert rate.total == 0


def test_no_more_windows_are_kept_than_overlap() -> None:
    rate = Rate(windows=3, window_ms=1000)
    for second in range(100):
        rate.add(10, 1000 * second)
        rate.span_ms(1000 * second)
        assert rate.total <= 40
    assert rate.total == 30


def test_apis_of_quotas_are_those_that_are_limited(driver: QuotaDriver) -> None:
    driver.quota(consumer_byte_rate=1e9)
    assert driver.cluster.brokers[1].quotas.limit(ApiKey.PRODUCE, "me") is None
    limit = driver.cluster.brokers[1].quotas.limit(ApiKey.FETCH, "me")
    assert limit is not None
    assert limit.most_at_once == 1e10
