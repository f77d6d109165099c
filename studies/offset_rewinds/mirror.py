"""A mirror maker that runs every three days for a month: what it finds, and what it reads.

It writes thirty page views and six deployments, reads both topics to their ends, commits after each record
and leaves; then three days pass. Each run has a client id of its own, `mirror-1` to `mirror-11`. A line of
JSON tells of each run and topic where the log starts and ends, what offset was committed (-1: none), and
which offsets were read. The argument is `auto.offset.reset`. Mirror.java does the same.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

BROKERS: Final = os.environ["BOOTSTRAP_SERVERS"]
CONTROL: Final = os.environ["MOCKBROKER_CONTROL"]
RECORDS: Final = {"views": 30, "deployments": 6}
"""How many are written to each topic before each run."""
SIZES: Final = {"views": 100, "deployments": 10}
RUNS: Final = 11
TIMEOUT_S: Final = 60.0


def write() -> None:
    producer = Producer({"bootstrap.servers": BROKERS})
    for topic, count in RECORDS.items():
        for _ in range(count):
            producer.produce(topic, b"x" * SIZES[topic], partition=0)
    if producer.flush(TIMEOUT_S):
        raise TimeoutError("not all records were delivered")


def mirror(run: int, reset: str) -> None:
    """Reads both topics from what was committed to the end, and tells about it."""
    found: dict[str, dict[str, Any]] = {}
    consumer = Consumer(
        {
            "bootstrap.servers": BROKERS,
            "client.id": f"mirror-{run}",
            "group.id": "mirror",
            "auto.offset.reset": reset if run > 1 else "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
    )

    def assigned(_: Consumer, partitions: Sequence[TopicPartition]) -> None:
        for each in consumer.committed(list(partitions), TIMEOUT_S):
            start, end = consumer.get_watermark_offsets(each, TIMEOUT_S)
            committed = max(each.offset, -1)
            found[each.topic] = {"log_start": start, "log_end": end, "committed": committed, "read": []}

    consumer.subscribe(list(RECORDS), on_assign=assigned)
    at_end: set[str | None] = set()
    while len(at_end) < len(RECORDS):
        message = consumer.poll(TIMEOUT_S)
        if message is None:
            raise TimeoutError("nothing came")
        error = message.error()
        if error is None:
            found[str(message.topic())]["read"].append(message.offset())
            consumer.commit(message=message, asynchronous=False)
        elif error.code() == KafkaError._PARTITION_EOF:
            at_end.add(message.topic())
        else:
            raise KafkaException(error)
    consumer.close()
    for topic in RECORDS:
        sys.stdout.write(json.dumps({"run": run, "topic": topic, **found[topic]}) + "\n")


def main(reset: str) -> None:
    three_days = urllib.request.Request(f"{CONTROL}/clock/advance", b'{"by": "3d"}', method="POST")
    for run in range(1, RUNS + 1):
        if run > 1:
            urllib.request.urlopen(three_days).close()
        write()
        mirror(run, reset)


if __name__ == "__main__":
    main(sys.argv[1])
