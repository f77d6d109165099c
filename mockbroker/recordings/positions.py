"""From which offsets a Fetch reads, and which ones an answer has."""

from typing import Any

from ..trace.plain import batches

Positions = frozenset[tuple[Any, int, int]]
"""Topic (its name, or its id), partition and offset of each partition."""


def positions(request: Any) -> Positions:
    """Of the partitions that it names: none if it only goes on in a session."""
    return frozenset(
        (_topic(topic), each.partition, each.fetch_offset)
        for topic in request.topics
        for each in topic.partitions
    )


def has_one_of(answer: Any, wanted: Positions) -> bool:
    """Whether it has the record at one of these positions."""
    offsets = {(topic, partition): offset for topic, partition, offset in wanted}
    for topic in answer.responses:
        for each in topic.partitions:
            offset = offsets.get((_topic(topic), each.partition_index))
            if offset is not None and any(
                batch.get("base_offset", offset + 1) <= offset <= batch["last_offset"]
                for batch in batches(each.records or b"")
            ):
                return True
    return False


def _topic(entity: Any) -> Any:
    return getattr(entity, "topic", None) or getattr(entity, "topic_id", None)
