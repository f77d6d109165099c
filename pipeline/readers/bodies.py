"""Topics and partitions in the bodies of requests and answers."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

Body = dict[str, Any]
Values = dict[str, Any]
Names = Mapping[str, str]
"""Topic ids, as text, to names."""
OK: Final = "NONE"
NO_UUID: Final = (None, "00000000-0000-0000-0000-000000000000")


def partitions(body: Body, inside: tuple[str, str], names: Names) -> Iterator[tuple[str | None, Body]]:
    """Each partition with the name of its topic, or its id if nobody told the name."""
    topics, parts = inside
    for topic in body.get(topics) or []:
        name = topic_of(topic, names)
        for part in topic.get(parts) or []:
            if isinstance(part, dict):
                yield name, part


def topic_of(body: Body, names: Names) -> str | None:
    name = either(body, "topic", "name", "topic_name")
    if isinstance(name, str) and name:
        return name
    topic_id = body.get("topic_id")
    return None if topic_id in NO_UUID else names.get(str(topic_id), str(topic_id))


def index_of(part: Body) -> int | None:
    return either(part, "partition_index", "partition", "index")  # type: ignore[no-any-return]


def placed(topic: str | None, part: Body) -> Values:
    return {"topic": topic, "partition": index_of(part)}


def either(body: Body, *names: str) -> Any:
    """The first of some fields that is there."""
    return next((body[name] for name in names if name in body), None)
