"""Incremental fetch sessions: creation, growth, forgetting, eviction (KIP-227)."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.fetch_sessions import EVICTION_MS, MOST_PARTITIONS, FetchContext, FetchSessions
from mockbroker.portions import at_once
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic

from ..driving.cluster import configured

LAST_EPOCH = (1 << 31) - 1


def sessions(slots: int = 2, kafka: str = "4.4") -> tuple[Cluster, FetchSessions]:
    config = {"max.incremental.fetch.session.cache.slots": str(slots)}
    cluster = configured(kafka, 1, None, config)
    return cluster, cluster.brokers[1].sessions


def request(
    partitions: int, *, session_id: int = 0, epoch: int = 0, forget: list[int] | None = None
) -> FetchRequest:
    wanted = [FetchTopic(topic="t", partitions=[FetchPartition(i) for i in range(partitions)])]
    gone = [ForgottenTopic(topic="t", partitions=forget)] if forget else []
    return FetchRequest(
        session_id=session_id,
        session_epoch=epoch,
        topics=wanted if partitions else [],
        forgotten_topics_data=gone,
    )


def context(found: FetchSessions, asked: FetchRequest, version: int) -> FetchContext:
    return at_once(found.context(asked, version))


def opened(found: FetchSessions, partitions: int = 1) -> int:
    """The id of a new session, 0 when there is no room."""
    session = context(found, request(partitions), 12).session
    return session.id if session else 0


def test_a_session_keeps_its_partitions_and_forgets_those_it_is_told_to() -> None:
    _, found = sessions()
    number = opened(found, 3)
    again = context(found, request(0, session_id=number, epoch=1, forget=[1]), 12)
    assert again.incremental
    assert [key[2] for key in again.partitions()] == [0, 2]
    assert not again.error


def test_an_epoch_out_of_turn_and_an_unknown_session_are_errors() -> None:
    _, found = sessions()
    number = opened(found)
    assert (
        context(found, request(0, session_id=number, epoch=5), 12).error
        is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    )
    assert (
        context(found, request(0, session_id=99, epoch=1), 12).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    )
    by_id = context(found, request(0, session_id=number, epoch=1), 13)
    assert by_id.error is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_the_final_epoch_closes_a_session_and_so_does_forgetting_everything() -> None:
    _, found = sessions()
    first = opened(found)
    context(found, request(1, session_id=first, epoch=-1), 12)
    assert (
        context(found, request(0, session_id=first, epoch=1), 12).error
        is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    )
    second = opened(found)
    assert context(found, request(0, session_id=second, epoch=1, forget=[0]), 12).session is None
    assert found.sessions == {}


def test_a_full_cache_gives_no_session_and_the_request_is_served_without() -> None:
    _, found = sessions(slots=2)
    assert opened(found)
    assert opened(found)
    alone = context(found, request(2), 12)
    assert alone.session is None
    assert [key[2] for key in alone.partitions()] == [0, 1]


def test_a_session_that_was_idle_for_long_makes_room() -> None:
    cluster, found = sessions(slots=2)
    idle, used = opened(found), opened(found)
    cluster.advance(cluster.now_ms + EVICTION_MS)
    context(found, request(0, session_id=used, epoch=1), 12)
    cluster.advance(cluster.now_ms + 1)
    new = opened(found)
    assert set(found.sessions) == {used, new}
    assert idle not in found.sessions


def test_a_session_keeps_its_place_until_it_was_idle_for_longer() -> None:
    cluster, found = sessions(slots=1)
    assert opened(found)
    cluster.advance(cluster.now_ms + EVICTION_MS)
    assert not opened(found, 2)
    cluster.advance(cluster.now_ms + 1)
    assert opened(found, 2)


def test_after_the_last_epoch_comes_the_first() -> None:
    _, found = sessions()
    number = opened(found)
    found.sessions[number].epoch = LAST_EPOCH
    for epoch in (LAST_EPOCH, 1, 2):
        assert context(found, request(0, session_id=number, epoch=epoch), 12).session


@pytest.mark.parametrize(
    ("session_id", "kafka", "error"),
    [
        (2_147_483_639, "3.8", ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (2_147_483_640, "3.8", ErrorCode.UNKNOWN_SERVER_ERROR),
        (2_147_483_640, "3.7", ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (-268_435_454, "3.8", ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (-268_435_455, "3.8", ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_ids_beyond_the_eight_caches(session_id: int, kafka: str, error: ErrorCode) -> None:
    _, found = sessions(kafka=kafka)
    assert context(found, request(0, session_id=session_id, epoch=1), 12).error is error


@pytest.mark.parametrize(("size", "fits"), [(3, True), (2, False), (1, False)])
def test_an_old_session_gives_way_to_a_larger_one_only(size: int, fits: bool) -> None:
    cluster, found = sessions(slots=1)
    old = opened(found, 2)
    cluster.advance(cluster.now_ms + EVICTION_MS)
    context(found, request(0, session_id=old, epoch=1), 12)
    cluster.advance(cluster.now_ms + 1)
    assert bool(opened(found, size)) is fits
    assert (old in found.sessions) is not fits


def test_sessions_hold_so_many_partitions_and_no_more() -> None:
    _, found = sessions(slots=10)
    first = opened(found, MOST_PARTITIONS // 2)
    assert first
    assert not opened(found, MOST_PARTITIONS // 2 + 1)
    second = opened(found, MOST_PARTITIONS // 2)
    assert second
    assert not opened(found, 1)
    others = [FetchTopic(topic="another", partitions=[FetchPartition(0)])]
    grown = FetchRequest(session_id=second, session_epoch=1, topics=others)
    assert context(found, grown, 12).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert set(found.sessions) == {first}
    assert opened(found, MOST_PARTITIONS // 2)
