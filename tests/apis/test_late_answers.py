"""An answer may be written long after it was made: nothing that happens in between shows in it."""

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mockbroker.apis.advertised import advertised
from mockbroker.controller import elections, reassignments
from mockbroker.protocol.codecs import Codec
from mockbroker.protocol.messages import (
    alter_configs,
    delete_records,
    delete_topics,
    leave_group,
    of_administrators,
)
from mockbroker.protocol.releases import NEWEST, parse
from mockbroker.replication.states import FollowerState

from ..driving.many import BIG, TIMEOUT_MS, Many, one_batch
from ..driving.requests import REQUESTS

N: Final = 3


def _isr_shrinks(many: Many) -> None:
    for partition in many.cluster.partitions():
        partition.set_follower(2, FollowerState.PAUSED)
        if partition.topic.internal or (leader := partition.led) is None:
            continue
        made = bytearray(one_batch(many.cluster.now_ms))
        leader.append_as_leader(made, leader.log.end_offset, 1, many.cluster.now_ms)
    many.cluster.advance(many.cluster.now_ms + 2 * TIMEOUT_MS)


def _broker_dies(many: Many) -> None:
    many.cluster.processes.kill(3)
    many.cluster.advance(many.cluster.now_ms + TIMEOUT_MS)


def _leader_moves(many: Many) -> None:
    for partition in list(many.cluster.partitions()):
        elections.move_leader(partition)


def _replicas_move(many: Many) -> None:
    for partition in list(many.cluster.partitions()):
        reassignments.begin(partition, [3, 1])


def _configurations_change(many: Many) -> None:
    for kind, name, change in (
        (2, BIG, ("retention.ms", "7")),
        (4, "", ("log.retention.ms", "8")),
        (4, "1", ("log.cleaner.threads", "2")),
        (32, many.groups[0], ("consumer.session.timeout.ms", "46000")),
    ):
        configs = [of_administrators.Config(*change)]
        asked = [alter_configs.AlterConfigsResource(kind, name, configs)]
        many.send(alter_configs.AlterConfigsRequest(asked))


def _records_go(many: Many) -> None:
    topics = [
        delete_records.DeleteRecordsTopic(name, [delete_records.DeleteRecordsPartition(0, -1)])
        for name in many.topics
    ]
    many.send(delete_records.DeleteRecordsRequest(topics, TIMEOUT_MS))


def _topics_go(many: Many) -> None:
    names = [*many.topics[1:], BIG]
    asked = [delete_topics.DeleteTopicState(name) for name in names if name in many.cluster.topics]
    many.send(delete_topics.DeleteTopicsRequest(asked, TIMEOUT_MS))


def _topics_grow(many: Many) -> None:
    for topic in many.cluster.topics.values():
        topic.add_partitions([[2, 3]])


def _members_go(many: Many) -> None:
    members = [leave_group.MemberIdentity(each) for each in many.members]
    many.send(leave_group.LeaveGroupRequest(BIG, members))


CHANGES: Final[list[Callable[[Many], None]]] = [
    _isr_shrinks,
    _broker_dies,
    _leader_moves,
    _replicas_move,
    _configurations_change,
    _records_go,
    _topics_go,
    _topics_grow,
    _members_go,
]


def test_there_are_requests_of_every_api() -> None:
    assert {key for key, _ in REQUESTS} == set(advertised(parse(NEWEST), telemetry=True))


@pytest.mark.parametrize("release", ["3.9", "4.4"])
@given(changes=st.permutations(CHANGES))
@settings(max_examples=2, deadline=None, phases=[Phase.generate])
def test_an_answer_is_what_it_was_when_it_was_made(
    release: str, changes: list[Callable[[Many], None]]
) -> None:
    for (key, what), requests in REQUESTS.items():
        if key not in advertised(parse(release), telemetry=True):
            continue
        many = Many(N, release)
        answers: list[tuple[Codec, Any, bytes]] = []

        def keep(written: Codec, answer: Any, answers: Any = answers) -> None:
            # Fitting an answer to a version may change it.
            answers.append((written, answer, _bytes(written.encode(7, copy.deepcopy(answer)))))

        for request in requests(many):
            many.send(request, sink=keep)
        for change in changes:
            change(many)
        assert answers
        for written, answer, before in answers:
            assert _bytes(written.encode(7, answer)) == before, f"{key.name} {what}"


def _bytes(frame: Any) -> bytes:
    return b"".join(map(bytes, frame)) if isinstance(frame, list) else bytes(frame)


def test_an_answer_that_was_held_back_has_the_isr_of_its_time() -> None:
    """The lists of replicas are lent to answers: a partition puts others in their place."""
    many = Many(N)
    partition = many.cluster.topics[BIG].partitions[0]
    seen = [partition.isr]
    for change in (_isr_shrinks, _broker_dies, _leader_moves, _replicas_move):
        kept = [list(each) for each in seen]
        change(many)
        assert [list(each) for each in seen] == kept
        seen.append(partition.isr)
    assert any(before != after for before, after in pairwise(seen))
