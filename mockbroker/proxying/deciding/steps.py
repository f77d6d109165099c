"""A request that is decided on, and what has to be asked for that."""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from ...cluster.call import Call
from ...faults.about import topic_of
from ...policies import Behaviour, Policies
from ...protocol.api_keys import ApiKey
from ...protocol.errors import ErrorCode, error_name
from ...protocol.messages.common import NamePartitionIndexes
from ...protocol.messages.describe_producers import DescribeProducersRequest, ProducerState
from ...protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

A = TypeVar("A")
Place = tuple[str, int]
"""A topic's name, and a partition."""
LATEST: Final = -1
EARLIEST: Final = -2
_END_OF_LOG: Final = -2
"""Asked with this replica id, LATEST is the log end offset, and not the high watermark
(`ListOffsetsRequest.DEBUGGING_REPLICA_ID`)."""
VERSIONS: Final = {ApiKey.LIST_OFFSETS: 4, ApiKey.DESCRIBE_PRODUCERS: 0}
"""In which questions are asked. ListOffsets has leader epochs since v4 (KIP-320)."""

_OF_PRODUCE: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
"""With these a Produce is answered, too."""


class Question(NamedTuple):
    """What the broker is asked besides the client's request, in a version of `VERSIONS`."""

    api: ApiKey
    request: Any


Steps = Generator[Any, Any, Any]
"""Yields a Question, or the client's request to have it passed on, whole or with less in it; is sent the
answers, and returns that to the client."""
Inner = Callable[[Any], Steps]
"""What becomes of a request after that: it is passed on, unless other behaviours are asked before."""


class Asked(NamedTuple):
    """A request on which a behaviour decides. `tell` tells a user what could not be decided."""

    call: Call
    api: ApiKey
    request: Any
    policies: Policies
    tell: Callable[[str], None]

    def decides(self, behaviour: Behaviour[Any], topic: str | None = None) -> bool:
        """Whether an answer was chosen for a topic; if not, the cluster's own stays."""
        kind, _ = self.policies.source(behaviour.name, topic=topic, broker=self.call.broker.id)
        return kind in ("chosen", "own")

    def answer(self, behaviour: Behaviour[A], topic: str | None = None) -> A:
        """The answer that was chosen: to be asked for only when it is used, because that is traced."""
        return self.policies.at(topic, self.call.broker.id)[behaviour]

    def topic(self, entry: Any) -> str | None:
        """The name of a topic that may be named by its id; None if it is not known."""
        return entry.name or topic_of(entry, self.call.cluster)


def by_topic(places: Iterable[Place]) -> Iterator[tuple[str, list[int]]]:
    """Topics, each with its partitions."""
    found: dict[str, list[int]] = {}
    for topic, partition in places:
        found.setdefault(topic, []).append(partition)
    return iter(found.items())


def offsets(
    places: dict[Place, int], at: int
) -> Generator[Question, Any, dict[Place, ListOffsetsPartitionResponse]]:
    """Where logs begin or end, by the leader epochs that a client knows, -1 for none."""
    topics = [
        ListOffsetsTopic(topic, [ListOffsetsPartition(each, places[topic, each], at) for each in partitions])
        for topic, partitions in by_topic(places)
    ]
    request = ListOffsetsRequest(replica_id=_END_OF_LOG, topics=topics)
    answer = yield Question(ApiKey.LIST_OFFSETS, request)
    return {(topic.name, each.partition_index): each for topic in answer.topics for each in topic.partitions}


def producers(
    asked: Asked, places: Iterable[Place]
) -> Generator[Question, Any, dict[Place, dict[int, ProducerState]]]:
    """The producers that partitions know, by id; without partitions of which the broker does not tell."""
    topics = [NamePartitionIndexes(topic, partitions) for topic, partitions in by_topic(places)]
    answer = yield Question(ApiKey.DESCRIBE_PRODUCERS, DescribeProducersRequest(topics))
    found = {}
    for topic in answer.topics:
        for each in topic.partitions:
            if not each.error_code:
                known = {one.producer_id: one for one in each.active_producers}
                found[topic.name, each.partition_index] = known
            elif each.error_code not in _OF_PRODUCE:
                error = error_name(each.error_code)
                asked.tell(f"nothing is decided on batches for {topic.name}: DescribeProducers says {error}")
    return found
