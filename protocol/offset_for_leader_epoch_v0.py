"""OffsetForLeaderEpoch v0 and v1 (KIP-101, KIP-279), which kio does not have; neither is flexible.

The schemas are as kio would define them. Neither has a replica id; it is -2, a debugging client.
"""

import types
from dataclasses import field, make_dataclass
from typing import Any, Final


def _schema(name: str, **layout: str | type) -> type:
    """A class like kio's: each field has a Kafka type, or is an array of another class."""
    members: list[tuple[str, Any, Any]] = [
        (each, object, field(metadata={"kafka_type": kind}))
        if isinstance(kind, str)
        else (each, types.GenericAlias(tuple, (kind, ...)), field())
        for each, kind in layout.items()
    ]
    return make_dataclass(name, members, namespace={"__flexible__": False})


def _response(**partition: str) -> type:
    topic = _schema("TopicResult", topic="string", partitions=_schema("EpochEndOffset", **partition))
    return _schema("OffsetForLeaderEpochResponse", topics=topic)


REQUEST: Final = _schema(
    "OffsetForLeaderEpochRequest",
    topics=_schema(
        "Topic", topic="string", partitions=_schema("Partition", partition="int32", leader_epoch="int32")
    ),
)
RESPONSES: Final = {
    0: _response(error_code="error_code", partition="int32", end_offset="int64"),
    1: _response(error_code="error_code", partition="int32", leader_epoch="int32", end_offset="int64"),
}
"""By version."""
