"""The bytes of a batch, and what each of them means."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.rig.batches import GZIP, Record, batch

from ..control.asking import ask
from ..driving.clients import raw_client


def shown(cluster: MockCluster, offset: int) -> tuple[int, Any]:
    return ask("GET", f"{cluster.control_url}/topics/orders/partitions/0/batches/{offset}")


def written(cluster: MockCluster, data: bytes) -> None:
    with raw_client(cluster) as client:
        topics = [{"name": "orders", "partition_data": [{"index": 0, "records": data}]}]
        client.call("produce", 8, {"acks": 1, "timeout": 1000, "topic_data": topics})


@pytest.fixture
def cluster() -> Any:
    with MockCluster(kafka="4.4", brokers=1, topics={"orders": 1}, control=True) as running:
        yield running


def test_every_byte_has_a_meaning(cluster: MockCluster) -> None:
    one = Record(timestamp=1_700_000_000_000, key=None, value=b"order 1", headers=(("h", b"x"), ("n", None)))
    two = Record(timestamp=1_700_000_000_500, key=b"k" * 200, value=b"")
    data = batch([one, two], producer_id=7, producer_epoch=1, sequence=5)
    written(cluster, data)
    status, told = shown(cluster, 1)
    assert status == 200
    assert (told["base_offset"], told["size"], told["left_out"]) == (0, len(data), False)
    at = 0
    for each in told["parts"]:
        assert each["at"] == at
        assert each["hex"] == data[at : at + min(each["size"], 64)].hex() or each["name"] == "leader epoch"
        at += each["size"]
    assert at == len(data)
    named = {(each["record"], each["name"]): each["value"] for each in told["parts"]}
    assert named[None, "producer id"] == "7"
    assert named[None, "attributes"] == "compression none, CreateTime"
    assert named[0, "key length"] == "-1: null"
    assert (named[0, "value"], named[0, "header count"]) == ("order 1", "2")
    assert named[1, "timestamp delta"] == "500, which is 1700000000500"
    assert named[1, "offset delta"] == "1, which is 1"
    assert named[1, "key"] == "k" * 100 + "…"


def test_records_that_are_compressed_are_one_part(cluster: MockCluster) -> None:
    data = batch([Record(timestamp=0, value=b"v" * 1000)] * 3, codec=GZIP)
    written(cluster, data)
    *_, last = shown(cluster, 2)[1]["parts"]
    assert last["value"] == "3 records, compressed with gzip"
    assert last["at"] + last["size"] == len(data)


@pytest.mark.parametrize(("kept", "head"), [("0.9.0", 18), ("0.10.2", 26)])
@pytest.mark.parametrize("codec", [0, GZIP])
def test_a_message_from_before_0_11_is_a_batch_too(kept: str, head: int, codec: int) -> None:
    config = {"message.format.version": kept}
    with MockCluster(kafka="2.8", brokers=1, control=True) as cluster:
        cluster.create_topic("orders", partitions=1, config=config)
        written(cluster, batch([Record(timestamp=7, key=b"k", value=b"v")] * 2, codec=codec))
        status, told = shown(cluster, 0)
    assert (status, told["base_offset"], told["left_out"]) == (200, 0, False)
    named = {each["name"]: each for each in told["parts"]}
    assert named["magic"]["value"] == str(int(head == 26))
    assert ("timestamp" in named) is (head == 26)
    assert named["key length"]["at"] == head
    last = told["parts"][-1]
    assert (last["name"], last["at"] + last["size"]) == ("value", told["size"])
    assert ("key" in named) is (not codec)


def test_of_a_large_batch_the_first_parts_are_told(cluster: MockCluster) -> None:
    written(cluster, batch([Record(timestamp=0, value=b"v")] * 1000))
    told = shown(cluster, 999)[1]
    assert (len(told["parts"]), told["left_out"]) == (1000, True)


@pytest.mark.parametrize("offset", [-1, 1])
def test_where_there_is_no_record(cluster: MockCluster, offset: int) -> None:
    cluster.produce("orders", b"v", partition=0)
    status, told = shown(cluster, offset)
    assert (status, told["error"]) == (
        404,
        f"no record at offset {offset} is in orders-0: its log is from 0 to 1",
    )
