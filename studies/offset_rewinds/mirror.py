"""A mirror maker that runs every three days for a month: what it finds, and what it reads.

It writes thirty page views and six deployments, reads both topics to their ends, commits after each record
and leaves; then three days pass. Each run has a client id of its own, `mirror-1` to `mirror-11`. A line of
JSON tells of each run and topic where the log starts and ends, what offset was committed (-1: none), and
which offsets were read. The arguments are a client that has a driver (confluent-kafka if left out, or java),
its version if that matters, and `auto.offset.reset`.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, open_client

BROKERS: Final = os.environ["BOOTSTRAP_SERVERS"]
CONTROL: Final = os.environ["MOCKBROKER_CONTROL"]
RECORDS: Final = {"views": 30, "deployments": 6}
"""How many are written to each topic before each run."""
SIZES: Final = {"views": 100, "deployments": 10}
RUNS: Final = 11
LIMIT_MS: Final = 60_000
POLL_MS: Final = 100


def write(client: Client) -> None:
    config = {"bootstrap.servers": BROKERS, "linger.ms": 100}
    client.call("open", "writer", LIMIT_MS, kind="producer", config=config)
    for topic, count in RECORDS.items():
        record = {"topic": topic, "partition": 0, "key": None, "value": b"x" * SIZES[topic]}
        client.produce("writer", [record] * count, LIMIT_MS)
    client.call("close", "writer", LIMIT_MS)


def mirror(client: Client, run: int, reset: str) -> None:
    """Reads both topics from what was committed to the end, and tells about it."""
    name, partitions = f"mirror-{run}", [[topic, 0] for topic in RECORDS]
    config = {
        "bootstrap.servers": BROKERS,
        "client.id": name,
        "group.id": "mirror",
        "auto.offset.reset": reset if run > 1 else "earliest",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "fetch.max.wait.ms": 10,
    }
    assigned: list[Any] = []
    client.listen(
        name, lambda event, line: assigned.extend(line["partitions"] if event == "assigned" else ())
    )
    client.call("open", name, LIMIT_MS, kind="consumer", config=config)
    client.call("subscribe", name, topics=list(RECORDS))
    found: dict[str, dict[str, Any]] = {}
    ends = 0
    while not found or ends < len(RECORDS):
        polled = client.call("poll", name, POLL_MS)
        if not found and assigned:
            committed = client.call("committed", name, LIMIT_MS, partitions=partitions)["offsets"]
            found = {topic: told(topic, -1 if offset is None else offset) for topic, _, offset in committed}
        for record in polled["records"]:
            found[record["topic"]]["read"].append(record["offset"])
            after = [record["topic"], record["partition"], record["offset"] + 1]
            client.call("commit", name, LIMIT_MS, offsets=[after])
        if "errors" in polled:  # librdkafka says where it is at the end, Java what its position is
            ends += sum(each["name"] == "_PARTITION_EOF" for each in polled["errors"])
        elif found:
            positions = client.call("position", name, LIMIT_MS, partitions=partitions)["offsets"]
            ends = sum(at >= found[topic]["log_end"] for topic, _, at in positions)
    client.call("close", name, LIMIT_MS)
    for topic in RECORDS:
        sys.stdout.write(json.dumps({"run": run, "topic": topic, **found[topic]}) + "\n")


def told(topic: str, committed: int) -> dict[str, Any]:
    [partition] = asked(f"topics/{topic}")["partitions"]
    start, end = partition["log_start_offset"], partition["high_watermark"]
    return {"log_start": start, "log_end": end, "committed": committed, "read": []}


def asked(path: str, content: Mapping[str, Any] | None = None) -> Any:
    """What the cluster answers to GET, or to POST with content."""
    data = None if content is None else json.dumps(content).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{CONTROL}/{path}", data)) as answer:
        return json.load(answer)


def main(reset: str, client: str = "confluent-kafka", version: str | None = None) -> None:
    with open_client(command_for(client, version)) as started:
        for run in range(1, RUNS + 1):
            if run > 1:
                asked("clock/advance", {"by": "3d"})
            write(started)
            mirror(started, run, reset)


if __name__ == "__main__":
    main(sys.argv[-1], *sys.argv[1:-1])
