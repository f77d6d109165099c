"""A session goes on although a fault refuses partitions, as it does at real brokers: `refused_partitions` of
`tests.share_groups`, `errors_in_a_session` of the questions about Fetch."""

from typing import Any

import pytest

from mockbroker.faults import Faults

from ..driving.brokers import InMemoryBrokers
from ..driving.cluster import a_cluster, create
from ..driving.in_memory import InMemoryClient
from ..share_groups.stage import ACCEPT, Ack, ShareMember, ShareStage, acquired, outcome
from ..share_groups.stories import STORIES

INVALID, NOT_FOUND = "INVALID_SHARE_SESSION_EPOCH", "SHARE_SESSION_NOT_FOUND"


class Sharing:
    """A member of a share group, a topic with four records, and faults."""

    def __init__(self) -> None:
        brokers = InMemoryBrokers("4.4.0", STORIES.setting)
        self.stage = ShareStage(brokers, "refused")
        self.stage.begin()
        self.stage.topic()
        self.stage.fill(4)
        self.member: ShareMember = self.stage.reader()
        self.faults = brokers.network.faults

    def refuse(self, api: str, error: str, **how: Any) -> None:
        self.faults.add("error", api=api, error=error, times=1, **how)


def errors(answer: Any) -> list[tuple[int, str]]:
    """By partition; fails if the answer is an error."""
    assert answer["error_code"] == "NONE"
    return [(each["partition_index"], each["error_code"]) for each in parts(answer)]


def parts(answer: Any) -> list[Any]:
    return [part for topic in answer["responses"] for part in topic["partitions"]]


def test_an_acknowledgement_is_taken_after_one_that_was_refused() -> None:
    s = Sharing()
    assert acquired(s.member.fetch()) == [[0, 3, 1]]
    s.refuse("ShareAcknowledge", "INVALID_RECORD_STATE")
    assert outcome(s.member.acknowledge(Ack(0, 0, [ACCEPT]), epoch=1)) == ("INVALID_RECORD_STATE", None)
    assert outcome(s.member.acknowledge(Ack(1, 1, [ACCEPT]), epoch=2)) == ("NONE", None)
    assert s.stage.state() == (0, [[1, 1, 2, 1]])


def test_a_session_begins_with_a_fetch_that_was_refused() -> None:
    s = Sharing()
    s.refuse("ShareFetch", "NOT_LEADER_OR_FOLLOWER")
    assert errors(s.member.fetch(epoch=0)) == [(0, "NOT_LEADER_OR_FOLLOWER")]
    assert acquired(s.member.fetch_all([], epoch=1)) == [[0, 3, 1]]
    assert outcome(s.member.acknowledge(Ack(0, 3, [ACCEPT]), epoch=2)) == ("NONE", None)


def test_partitions_of_the_session_are_refused_though_the_request_names_none() -> None:
    s = Sharing()
    assert acquired(s.member.fetch()) == [[0, 3, 1]]
    s.refuse("ShareFetch", "KAFKA_STORAGE_ERROR")
    assert errors(s.member.fetch_all([], epoch=1)) == [(0, "KAFKA_STORAGE_ERROR")]
    # The client hears that it is over.
    assert errors(s.member.fetch_all([], epoch=2, max_wait=300)) == [(0, "NONE")]
    assert s.member.fetch_all([], epoch=3, max_wait=300)["responses"] == []


@pytest.mark.parametrize("api", ["ShareFetch", "ShareAcknowledge"])
def test_a_session_ends_with_a_request_that_was_refused(api: str) -> None:
    s = Sharing()
    assert acquired(s.member.fetch()) == [[0, 3, 1]]
    s.refuse(api, "UNKNOWN_TOPIC_OR_PARTITION")
    acks = [Ack(0, 0, [ACCEPT])]
    ended = (
        s.member.acknowledge(*acks, epoch=-1)
        if api == "ShareAcknowledge"
        else s.member.fetch(acks={0: acks}, epoch=-1)
    )
    assert errors(ended) == [(0, "UNKNOWN_TOPIC_OR_PARTITION")]
    assert s.member.fetch(epoch=1)["error_code"] == NOT_FOUND
    assert acquired(s.member.fetch(epoch=0)) == [[0, 3, 2]]


@pytest.mark.parametrize("epoch", [7, 0])
def test_a_session_does_not_go_on_with_a_wrong_epoch(epoch: int) -> None:
    s = Sharing()
    assert acquired(s.member.fetch()) == [[0, 3, 1]]
    s.refuse("ShareAcknowledge", "INVALID_RECORD_STATE")
    answer = s.member.acknowledge(Ack(0, 0, [ACCEPT]), epoch=epoch)
    assert errors(answer) == [(0, "INVALID_RECORD_STATE")]
    assert outcome(s.member.acknowledge(Ack(0, 0, [ACCEPT]), epoch=1)) == ("NONE", None)


def test_a_session_does_not_go_on_with_a_request_that_failed_as_a_whole() -> None:
    s = Sharing()
    assert acquired(s.member.fetch()) == [[0, 3, 1]]
    s.refuse("ShareAcknowledge", INVALID, level="top")
    assert s.member.acknowledge(Ack(0, 0, [ACCEPT]), epoch=1)["error_code"] == INVALID
    assert outcome(s.member.acknowledge(Ack(0, 0, [ACCEPT]), epoch=1)) == ("NONE", None)


class Fetching:
    """A client's fetch session of partitions 0 and 1 of a topic."""

    def __init__(self) -> None:
        cluster = a_cluster(brokers=1)
        create(cluster, "t", 2)
        self.topic_id = cluster.topics["t"].id
        self.faults = Faults(cluster)
        self.client = InMemoryClient(cluster, 1, self.faults)
        self.id = 0

    def refuse(self, **how: Any) -> None:
        self.faults.add("error", api="Fetch", error="NOT_LEADER_OR_FOLLOWER", times=1, **how)

    def ask(self, epoch: int, *indexes: int) -> Any:
        named = [{"partition": each, "partition_max_bytes": 1000} for each in indexes]
        topics = [{"topic_id": self.topic_id, "partitions": named}] if named else []
        asked = {"session_id": self.id, "session_epoch": epoch, "topics": topics}
        return self.client.call("fetch", 17, {"max_wait": 0, "min_bytes": 1, "max_bytes": 1000, **asked})

    def begin(self) -> Any:
        answer = self.ask(0, 0, 1)
        self.id = answer["session_id"]
        return answer


def test_a_fetch_session_begins_with_a_request_that_was_refused() -> None:
    s = Fetching()
    s.refuse(partition=1)
    assert errors(s.begin()) == [(0, "NONE"), (1, "NOT_LEADER_OR_FOLLOWER")]
    assert s.id > 0
    assert errors(s.ask(1)) == [(0, "NONE"), (1, "NONE")]
    assert errors(s.ask(2)) == []


def test_a_fetch_session_goes_on_after_a_request_that_was_refused() -> None:
    s = Fetching()
    assert errors(s.begin()) == [(0, "NONE"), (1, "NONE")]
    assert errors(s.ask(1)) == []
    s.refuse()
    assert errors(s.ask(2)) == [(each, "NOT_LEADER_OR_FOLLOWER") for each in (0, 1)]
    assert errors(s.ask(3)) == [(0, "NONE"), (1, "NONE")]
    assert errors(s.ask(4)) == []
    s.refuse()
    assert errors(s.ask(9)) == []
    assert errors(s.ask(5)) == []


def test_a_fetch_without_a_session_that_was_refused_begins_none() -> None:
    s = Fetching()
    s.refuse()
    answer = s.ask(-1, 0)
    assert errors(answer) == [(0, "NOT_LEADER_OR_FOLLOWER")]
    assert answer["session_id"] == 0
