"""What a topology asks for has a limit, so that one heartbeat does not hold up other clients."""

from collections.abc import Iterator

import pytest

from mockbroker.coordinators.streams.configuring import MOST_TASKS
from mockbroker.coordinators.streams.requests import MOST_NAMES

from .in_memory import in_memory
from .stage import StreamsStage


@pytest.fixture
def s() -> Iterator[StreamsStage]:
    with in_memory("limits", lines=1000) as stage:
        yield stage


def test_names_in_a_topology(s: StreamsStage) -> None:
    half = MOST_NAMES // 2
    told = s.member().join(*(s.reading("lines", name=str(number)) for number in range(half + 1)))
    assert told["error_code"] == "STREAMS_INVALID_TOPOLOGY"
    assert f"{MOST_NAMES + 2} subtopologies" in told["error_message"]


def test_tasks(s: StreamsStage) -> None:
    enough = MOST_TASKS // 1000
    told = s.member().join(*(s.reading("lines", name=str(number)) for number in range(enough + 1)))
    assert told["error_code"] == "STREAMS_INVALID_TOPOLOGY"
    assert f"{MOST_TASKS + 1000} tasks" in told["error_message"]
    told = s.member("B").join(*(s.reading("lines", name=str(number)) for number in range(enough)))
    assert told["error_code"] == "NONE"


def test_partitions_of_internal_topics(s: StreamsStage) -> None:
    """None is created if all together have too many, as in CreateTopics."""
    member, words = s.member(), s.internal("words", 6000)
    member.join(
        s.reading("lines", repartition_sink_topics=[words["name"]]),
        {
            "subtopology_id": "1",
            "repartition_source_topics": [words],
            "state_changelog_topics": [s.internal("totals")],
        },
    )

    def told() -> bool:
        (status,) = member.beat()["status"]
        return "Excessively large number of partitions per request." in status["status_detail"]

    s.brokers.until(told, "the member to be told")
    assert s.named("words") not in s.brokers.cluster.topics  # type: ignore[attr-defined]


@pytest.mark.parametrize("partitions", [2**31 - 1, -(2**31)])
def test_an_internal_topic_of_any_size(s: StreamsStage, partitions: int) -> None:
    words = s.internal("words", partitions)
    told = s.member().join(
        s.reading("lines", repartition_sink_topics=[words["name"]]),
        {"subtopology_id": "1", "repartition_source_topics": [words]},
    )
    assert told["error_code"] == ("STREAMS_INVALID_TOPOLOGY" if partitions > 0 else "NONE")
    assert s.member("B").join(s.reading("lines"))["error_code"] in ("NONE", "INVALID_REQUEST")
    assert s.named("words") not in s.brokers.cluster.topics  # type: ignore[attr-defined]
