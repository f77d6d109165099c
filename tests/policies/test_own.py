"""A user's own answers, and what becomes of those that raise."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from confluent_kafka import Producer

from mockbroker import Behaviours, MockCluster
from mockbroker.policies import OwnPolicyError, UnknownPolicyError
from mockbroker.server.observer import SilentObserver

from ..driving.clients import raw_client

QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}


class Halfway:
    """Answers half of the log end offset for an epoch that is not known."""

    def __call__(self, latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
        return latest_epoch, log_end_offset // 2


class Heard(SilentObserver):
    """An observer that keeps what failed."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def policy_failed(self, error: Exception) -> None:
        self.errors.append(error)


def end_of_epoch(cluster: MockCluster, epoch: int) -> dict[str, Any]:
    partition = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": epoch}
    with raw_client(cluster) as client:
        topics = [{"topic": "t", "partitions": [partition]}]
        answer = client.call("offset_for_leader_epoch", 3, {"replica_id": -1, "topics": topics})
    found: dict[str, Any] = answer["topics"][0]["partitions"][0]
    return found


def produce(cluster: MockCluster, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **QUIET})
    for _ in range(count):
        producer.produce("t", b"v", partition=0)
    assert producer.flush(30) == 0


def test_a_class_in_place_of_a_name() -> None:
    with MockCluster(brokers=1, topics={"t": 1}, policies={"undefined-epoch": Halfway()}) as cluster:
        produce(cluster, 10)
        found = end_of_epoch(cluster, 7)
        assert (found["leader_epoch"], found["end_offset"]) == (0, 5)
        assert cluster.policies.answer("undefined-epoch") == "Halfway"


def test_a_value_in_place_of_a_name_at_run_time() -> None:
    with MockCluster(brokers=1, topics={"t": 1}) as cluster:
        cluster.policies.set("undefined-epoch", Halfway(), topic="t")
        produce(cluster, 4)
        assert end_of_epoch(cluster, 7)["end_offset"] == 2
        cluster.policies.reset("undefined-epoch", topic="t")
        assert end_of_epoch(cluster, 7)["end_offset"] == -1


@pytest.mark.parametrize("trace", [False, True])
def test_one_that_raises(trace: bool) -> None:
    """The client gets UNKNOWN_SERVER_ERROR, the observer hears why, and the broker goes on."""

    def broken(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
        raise ZeroDivisionError("mine")

    heard = Heard()
    policies: Behaviours = {"undefined-epoch": broken}
    with MockCluster(brokers=1, topics={"t": 1}, policies=policies, observer=heard, trace=trace) as cluster:
        assert end_of_epoch(cluster, 7)["error_code"] == "UNKNOWN_SERVER_ERROR"
        produce(cluster, 1)
        assert end_of_epoch(cluster, 0)["error_code"] == "NONE"
        assert cluster.failures == heard.errors
        cluster.failures.clear()
    (error,) = heard.errors
    assert isinstance(error, OwnPolicyError)
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_one_that_raises_while_no_request_is_at_work() -> None:
    def broken(*_: object) -> tuple[int, bool]:
        raise ZeroDivisionError("mine")

    heard = Heard()
    config = {"default.replication.factor": "2"}
    options: dict[str, Any] = {"brokers": 2, "topics": {"t": 1}, "config": config, "observer": heard}
    with MockCluster(policies={"follower-truncation": broken}, **options) as cluster:
        produce(cluster, 1)
        cluster.kill_broker(1)
        cluster.start_broker(1)  # and it follows, once its session is over
        cluster.clock.advance("1m")
        produce(cluster, 1)
        cluster.failures.clear()
    assert [str(each.__cause__) for each in heard.errors] == ["mine"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [(7, "takes something to call"), ("halfway", "choose one of log-end-offset, undefined")],
)
def test_what_can_not_be(answer: Any, message: str) -> None:
    with pytest.raises(UnknownPolicyError, match=message):
        MockCluster(policies={"undefined-epoch": answer}).start()
