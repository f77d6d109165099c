"""KAFKA-15591: two batches to a new partition, of which the leader refuses the first."""

from __future__ import annotations

import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import open_client
from mockbroker.names import Fault

LIMIT_MS = 30_000
RECORDS = [b"%d" % each for each in range(6)]
REFUSED: Fault = {
    "do": "error",
    "api": "Produce",
    "error": "NOT_LEADER_OR_FOLLOWER",
    "when": "instead",
    "times": 1,
}
LATE: Fault = {"do": "delay", "api": "Produce", "when": "after", "ms": 500, "times": 1}
"""So that further batches are on their way when the first is refused."""
CONFIG = {
    "acks": "all",
    "batch.size": 1,
    "delivery.timeout.ms": 6_000,
    "enable.idempotence": True,
    "linger.ms": 0,
    "max.in.flight.requests.per.connection": 5,
    "request.timeout.ms": 3_000,
}


@pytest.mark.parametrize("client", ["java-4.4"])
@pytest.mark.parametrize("answer", ["any", "zero"])
def test_the_first_records_of_a_new_partition(client: str, answer: str) -> None:
    name, _ = client.split("-")
    with (
        MockCluster(
            brokers=1,
            topics={"orders": 1},
            policies=unchecked({"new-partition-sequence": answer}),
            faults=[REFUSED, LATE],
        ) as cluster,
        open_client(command_for(name, "4.4.0")) as driver,
    ):
        config = {**CONFIG, "bootstrap.servers": cluster.bootstrap_servers}
        driver.call("open", "p", LIMIT_MS, kind="producer", config=config)
        sent = [
            driver.send("produce", "p", topic="orders", partition=0, key=None, value=each) for each in RECORDS
        ]
        driver.call("flush", "p", LIMIT_MS)
        errors = [each.result().error for each in sent]
        written = [each.value for each in cluster.records("orders")]
        driver.call("close", "p", LIMIT_MS)
    failed = [record for record, error in zip(RECORDS, errors, strict=True) if error is not None]
    assert written == [each for each in RECORDS if each not in failed]
    if answer == "any":
        assert failed
        assert failed == RECORDS[: len(failed)]
        assert written
    else:
        assert not failed
