"""Offsets of groups are set by hand, with what Kafka refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, ShareConsumer

from mockbroker import ConflictError, MockCluster, NotThereError, OptionError
from mockbroker.control.errors import RefusedError

from ..driving.share_reader import QUICK
from .asking import ask


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(brokers=1, config=QUICK, topics={"orders": 1}, control=True) as running:
        for number in range(6):
            running.produce("orders", f"order {number}")
        yield running


def test_a_group_goes_on_where_it_was_set(cluster: MockCluster) -> None:
    cluster.alter_offset("billing", "orders", 0, 4)
    assert cluster.committed("billing")["orders", 0].offset == 4
    own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing"}
    with contextlib.closing(Consumer({**own, "auto.offset.reset": "error"})) as consumer:
        consumer.subscribe(["orders"])
        while (message := consumer.poll(1)) is None:
            pass
        assert message.value() == b"order 4"
        with pytest.raises(RefusedError, match=r"UNKNOWN_MEMBER_ID.*without members"):
            cluster.alter_offset("billing", "orders", 0, 0)
    assert cluster.committed("billing")["orders", 0].offset != 0


def test_a_share_group_begins_anew(cluster: MockCluster) -> None:
    cluster.configure_group("workers", {"share.auto.offset.reset": "earliest"})
    own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers"}
    member = ShareConsumer(own)
    member.subscribe(["orders"])
    while not member.poll(1):
        pass
    with pytest.raises(RefusedError, match="NON_EMPTY_GROUP"):
        cluster.alter_offset("workers", "orders", 0, 4)
    member.close()
    cluster.alter_offset("workers", "orders", 0, 4)
    assert cluster.share_group("workers")["orders", 0].start_offset == 4
    other = ShareConsumer(own)
    other.subscribe(["orders"])
    while not (messages := other.poll(1)):
        pass
    assert [each.value() for each in messages] == [b"order 4", b"order 5"]
    other.close()


def test_what_is_not_there(cluster: MockCluster) -> None:
    with pytest.raises(NotThereError):
        cluster.alter_offset("g", "nothing", 0, 0)
    with pytest.raises(NotThereError):
        cluster.alter_offset("g", "orders", 1, 0)
    with pytest.raises(OptionError, match="0 or more"):
        cluster.alter_offset("g", "orders", 0, -1)
    cluster.stop_broker(1)
    with pytest.raises(ConflictError, match="COORDINATOR_NOT_AVAILABLE"):
        cluster.alter_offset("g", "orders", 0, 0)


def test_over_http(cluster: MockCluster) -> None:
    values = {"topic": "orders", "partition": 0, "offset": 3}
    url = f"{cluster.control_url}/groups/billing/offset"
    assert ask("POST", url, values) == (200, {"group_id": "billing", **values})
    assert cluster.committed("billing")["orders", 0].offset == 3
