"""OffsetForLeaderEpoch v0 and v1 (KIP-101, KIP-279), which kio lacks; neither was ever flexible."""

from typing import Any, Final

from construct import If, Int16sb, Int32sb, Int64sb, PascalString, PrefixedArray, Struct

from .messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

_Name: Final = PascalString(Int16sb, "utf8")

_Request: Final = Struct(
    "topics"
    / PrefixedArray(
        Int32sb,
        Struct(
            "topic" / _Name,
            "partitions" / PrefixedArray(Int32sb, Struct("partition" / Int32sb, "leader_epoch" / Int32sb)),
        ),
    ),
)


def _response(version: int) -> Struct:
    partition = Struct(
        "error_code" / Int16sb,
        "partition" / Int32sb,
        "leader_epoch" / If(version >= 1, Int32sb),
        "end_offset" / Int64sb,
    )
    return Struct(
        "topics"
        / PrefixedArray(Int32sb, Struct("topic" / _Name, "partitions" / PrefixedArray(Int32sb, partition)))
    )


_RESPONSES: Final = {0: _response(0), 1: _response(1)}


def read_request(data: bytes | memoryview, offset: int) -> OffsetForLeaderEpochRequest:
    """Raises construct.ConstructError. The replica id is not in v0 and v1: -2, any debugging client."""
    parsed = _Request.parse(bytes(data[offset:]))
    return OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic=topic.topic,
                partitions=[
                    OffsetForLeaderPartition(partition=p.partition, leader_epoch=p.leader_epoch)
                    for p in topic.partitions
                ],
            )
            for topic in parsed.topics
        ]
    )


def write_response(version: int, response: OffsetForLeaderEpochResponse, out: bytearray) -> None:
    value: dict[str, Any] = {
        "topics": [
            {
                "topic": topic.topic,
                "partitions": [
                    {
                        "error_code": p.error_code,
                        "partition": p.partition,
                        "leader_epoch": p.leader_epoch,
                        "end_offset": p.end_offset,
                    }
                    for p in topic.partitions
                ],
            }
            for topic in response.topics
        ]
    }
    out += _RESPONSES[version].build(value)
