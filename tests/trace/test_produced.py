"""What is noted of Produce becomes the body that any other message would have."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.protocol.messages.common import LeaderIdAndEpoch
from mockbroker.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from mockbroker.rig.batches import Record, batch
from mockbroker.trace import produced
from mockbroker.trace.plain import plain, shortened

BATCH = batch([Record(b"v"), Record(b"w")], producer_id=7, producer_epoch=1, sequence=3)
IDS = st.none() | st.uuids()
NAMES = st.text(max_size=5)
TEXTS = st.none() | st.text(max_size=5) | st.just("long" * 100)
RECORDS = st.sampled_from([None, b"", BATCH, memoryview(BATCH), BATCH[:-1], BATCH[:30], BATCH + BATCH])


def lists_of(each: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(each, max_size=2) | st.lists(each, min_size=1, max_size=1)


REQUESTS = st.builds(
    ProduceRequest,
    TEXTS,
    st.integers(-1, 1),
    st.integers(0, 9),
    lists_of(
        st.builds(
            TopicProduceData,
            IDS,
            lists_of(st.builds(PartitionProduceData, st.integers(0, 9), RECORDS)),
            NAMES,
        )
    ),
)
ANSWERS = st.builds(
    ProduceResponse,
    lists_of(
        st.builds(
            TopicProduceResponse,
            IDS,
            lists_of(
                st.builds(
                    PartitionProduceResponse,
                    st.integers(0, 9),
                    st.sampled_from([0, 0, 0, 6]),
                    st.integers(0, 9),
                    st.integers(-1, 9),
                    st.integers(-1, 9),
                )
            ),
            NAMES,
        )
    ),
    st.integers(0, 9),
)


@given(REQUESTS)
def test_of_requests(request: ProduceRequest) -> None:
    noted = produced.of_request(request)
    assert noted is None or plain(produced.request_of(noted)) == shortened(request)[0]


@given(ANSWERS)
def test_of_answers(answer: ProduceResponse) -> None:
    noted = produced.of_answer(answer)
    assert noted is None or plain(produced.answer_of(noted)) == shortened(answer)[0]


@pytest.mark.parametrize("id_", [None, UUID(int=5)])
def test_of_usual_messages(id_: UUID | None) -> None:
    topic = TopicProduceData(id_, [PartitionProduceData(3, memoryview(BATCH))], "t")
    request = ProduceRequest("mover", -1, 30_000, [topic])
    noted = produced.of_request(request)
    assert noted is not None
    body = plain(produced.request_of(noted))
    assert body == shortened(request)[0]
    (head,) = body["topic_data"][0]["partition_data"][0]["records"]
    assert (head["producer_id"], head["records"], head["bytes"]) == (7, 2, len(BATCH))
    answer = ProduceResponse([TopicProduceResponse(id_, [PartitionProduceResponse(3, 0, 8)], "t")])
    noted = produced.of_answer(answer)
    assert noted is not None
    assert plain(produced.answer_of(noted)) == shortened(answer)[0]


@pytest.mark.parametrize(
    "one",
    [
        PartitionProduceResponse(0, 6, -1, current_leader=LeaderIdAndEpoch(2, 1)),
        PartitionProduceResponse(0, 0, record_errors=[BatchIndexAndErrorMessage(0, "no")]),
        PartitionProduceResponse(0, 0, error_message="no"),
        PartitionProduceResponse(0, 0, current_leader=LeaderIdAndEpoch(2, 1)),
    ],
)
def test_what_is_unusual_is_kept_whole(one: PartitionProduceResponse) -> None:
    assert produced.of_answer(ProduceResponse([TopicProduceResponse(None, [one], "t")])) is None
