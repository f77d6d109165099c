"""Ships twenty orders, and commits after each ten; its coordinator is deposed while the second commit waits.

So does a commit of the group `billing`, for fifty partitions. The next coordinator writes three commits of
other groups meanwhile; then the first is back. Shipping ends, and starts again. Lines of JSON tell of each
run of shipping what offset was committed when it began (-1: none), and which orders were shipped, and of each
commit that waited what the client said of it. The arguments are a client that has a driver (confluent-kafka
if left out) and its version, if that matters.
"""

import base64
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final

from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, RefusedError, open_client
from mockbroker.clients.drivers.lines import Answer
from mockbroker.protocol.offsets_log import Commit, commit_key, commit_value

BROKERS: Final = os.environ["BOOTSTRAP_SERVERS"]
CONTROL: Final = os.environ["MOCKBROKER_CONTROL"]
SIZES: Final = {"orders": 1, "bills": 50}
"""How many partitions topics have."""
ORDERS: Final = 20
EACH: Final = 10
OTHERS: Final = 3
SESSION_MS: Final = 6_000
"""So long the second run waits at most, where the first could not leave."""
LIMIT_MS: Final = 60_000
POLL_MS: Final = 100
PACE_S: Final = 0.1


def write(client: Client) -> None:
    client.call("open", "shop", LIMIT_MS, kind="producer", config={"bootstrap.servers": BROKERS})
    record = {"topic": "orders", "partition": 0, "key": None, "value": b"order"}
    bills = [{**record, "topic": "bills", "partition": each} for each in range(SIZES["bills"])]
    client.produce("shop", [record] * ORDERS + bills, LIMIT_MS)
    client.call("close", "shop", LIMIT_MS)


def begin(client: Client, name: str, group: str, topic: str) -> None:
    config = {
        "bootstrap.servers": BROKERS,
        "client.id": name,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": SESSION_MS,
    }
    client.call("open", name, LIMIT_MS, kind="consumer", config=config)
    client.call("subscribe", name, topics=[topic])


def read(client: Client, name: str, count: int) -> list[int]:
    """The offsets of so many records."""
    found: list[int] = []
    while len(found) < count:
        found += [record["offset"] for record in client.call("poll", name, POLL_MS)["records"]]
    return found


def commit(client: Client, name: str, topic: str, offset: int) -> Future[Answer]:
    offsets = [[topic, each, offset] for each in range(SIZES[topic])]
    return client.send("commit", name, LIMIT_MS, offsets=offsets)


def asked(path: str, content: Mapping[str, Any] | None = None) -> Any:
    """What the cluster answers to GET, or to POST with content."""
    data = None if content is None else json.dumps(content).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{CONTROL}/{path}", data)) as answer:
        return json.load(answer)


def others_commit() -> None:
    for number in range(OTHERS):
        key, value = commit_key(f"group-{number}", "orders", 0), commit_value(Commit(1, -1, "", 0), 3)
        texts = {name: base64.b64encode(each).decode() for name, each in (("key", key), ("value", value))}
        asked("topics/__consumer_offsets/records", {"partition": 0, "encoding": "base64", **texts})


def coordinator() -> int:
    return int(asked("topics/__consumer_offsets")["partitions"][0]["leader"])


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(PACE_S)


def close(client: Client, name: str) -> None:
    """Its coordinator may have moved without its knowledge."""
    try:
        client.call("close", name, LIMIT_MS)
    except RefusedError as error:
        sys.stderr.write(f"{name}: {error}\n")


def tell(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")


def first(client: Client) -> None:
    begin(client, "billing", "billing", "bills")
    read(client, "billing", SIZES["bills"])
    begin(client, "shipping-1", "shipping", "orders")
    tell(run=1, committed=-1, shipped=read(client, "shipping-1", ORDERS))
    commit(client, "shipping-1", "orders", EACH).result()
    before = coordinator()
    waiting = {"shipping": commit(client, "shipping-1", "orders", ORDERS)}
    until(lambda: asked("faults/cut")["hits"] > 0)
    waiting["billing"] = commit(client, "billing", "bills", 1)
    until(lambda: coordinator() not in (before, -1))
    others_commit()
    asked(f"brokers/{before}/rejoin", {})
    for group, answer in waiting.items():
        error = answer.result().error
        tell(group=group, commit="acknowledged" if error is None else error.name)
    for name in ("billing", "shipping-1"):
        close(client, name)


def second(client: Client) -> None:
    begin(client, "shipping-2", "shipping", "orders")
    [[_, _, began]] = client.call("committed", "shipping-2", LIMIT_MS, partitions=[["orders", 0]])["offsets"]
    shipped = read(client, "shipping-2", ORDERS - began)
    if shipped:
        commit(client, "shipping-2", "orders", ORDERS).result()
    tell(run=2, committed=began, shipped=shipped)
    close(client, "shipping-2")


def main(client: str = "confluent-kafka", version: str | None = None) -> None:
    with open_client(command_for(client, version)) as started:
        write(started)
        first(started)
        second(started)


if __name__ == "__main__":
    main(*sys.argv[1:])
