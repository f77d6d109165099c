"""KAFKA-20734: since 4.3 a partition without a leader gets no marker, and readers wait behind it."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster, unchecked

from ..driving.until import until

LIMIT_S = 30.0


@pytest.mark.parametrize(("answer", "read"), [("skipped", []), ("waits", [b"after it"])])
def test_what_readers_get_behind_an_aborted_transaction(answer: str, read: list[bytes]) -> None:
    policies = unchecked({"leaderless-marker": answer})
    with MockCluster(brokers=4, policies=policies) as cluster:
        common = {"bootstrap.servers": cluster.bootstrap_servers}
        producer = Producer({**common, "transactional.id": "billing"})
        producer.init_transactions(LIMIT_S)
        coordinator = cluster.transaction("billing").coordinator
        leader = 4 if coordinator != 4 else 3
        cluster.create_topic("orders", replica_assignment=[[leader]])
        producer.begin_transaction()
        producer.produce("orders", "aborted")
        assert producer.flush(LIMIT_S) == 0
        cluster.stop_broker(leader)
        producer.abort_transaction(LIMIT_S)
        cluster.start_broker(leader)
        cluster.produce("orders", "after it")
        until(lambda: cluster.transaction("billing").state == "CompleteAbort", "the transaction's end")
        found = cluster.records("orders", isolation_level="read_committed")
        assert [each.value for each in found] == read
