"""Copies records from `in` to `out` with FastStream, at least once. The handler fails at every third record
of a partition, the first time: NACK_ON_ERROR gives the record again."""

import asyncio
import os

from faststream import AckPolicy, FastStream
from faststream.kafka import KafkaBroker, KafkaMessage

SERVERS = os.environ["BOOTSTRAP_SERVERS"].split(",")
TIMERS = {"session_timeout_ms": 6_000, "heartbeat_interval_ms": 300}
broker = KafkaBroker(SERVERS, request_timeout_ms=3_000, retry_backoff_ms=50)
failed = set()


@broker.subscriber(
    "in",
    group_id="copies",
    auto_offset_reset="earliest",
    isolation_level="read_committed",
    ack_policy=AckPolicy.NACK_ON_ERROR,
    **TIMERS,
)
async def copy(body: bytes, message: KafkaMessage) -> None:
    raw = message.raw_message
    at = (raw.partition, raw.offset)
    if raw.offset % 3 == 1 and at not in failed:
        failed.add(at)
        raise ValueError("not yet")
    await broker.publish(body, "out")


asyncio.run(FastStream(broker).run())
