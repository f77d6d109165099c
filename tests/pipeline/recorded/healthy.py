"""Has real brokers write the offsets topic of groups that nothing happens to:
`python -m mockbroker.rig record tests.pipeline.recorded.healthy`.

Members join and leave, brokers restart one after the other, an operator resets a group, deletes offsets, a
topic and a group, and a dead group expires. For each release and type of group, `healthy-RELEASE` has the
offsets topic of each broker, and the lines about groups in its log.

Takes about ten minutes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.real_tools import Tools
from mockbroker.rig.scene import LacksApiError
from mockbroker.rig.stories import Files, Setting, named

from ...driving.until import until
from .make import HERE, LIMIT_S, log

TOOLS = {"3.9.2": "3.9.2", "4.4.0": "4.3.1"}
"""The releases, and those of their tools: there are none of 4.4.0 on Maven Central."""
CONFIG = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    "log.initial.task.delay.ms": "500",
    "offsets.retention.check.interval.ms": "1000",
    "offsets.retention.minutes": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "3",
}
TOPICS = ("orders", "doomed", "other")
TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
_KEPT = re.compile(
    r"GroupCoordinator|GroupMetadataManager|LogCleaner|cleaner-thread|__consumer_offsets|started \("
)
_NOISE = re.compile(r"Config values|Created log|LogConfig|state\.change\.logger")


class Members:
    """Members of a group, driven from one thread."""

    def __init__(self, servers: str, group: str, topics: list[str], **config: object) -> None:
        self._config = {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            **config,
        }
        self._topics = topics
        self._running: list[Consumer] = []

    def join(self, topics: list[str] | None = None) -> Consumer:
        one = Consumer(self._config)
        one.subscribe(topics or self._topics)
        self._running.append(one)
        return one

    def read(self, count: int) -> None:
        """Until that many records have come, each of which is committed."""

        def once() -> bool:
            nonlocal count
            for one in self._running:
                message = one.poll(0.1)
                if message is not None and message.error() is None:
                    count -= 1
                    one.commit(message, asynchronous=False)  # type: ignore[call-overload]
            return count <= 0

        until(once, f"{count} records", LIMIT_S)

    def leave(self, one: Consumer | None = None) -> None:
        for each in [one] if one is not None else list(self._running):
            each.close()
            self._running.remove(each)


@contextmanager
def group(servers: str, name: str, topics: list[str], **config: object) -> Iterator[Members]:
    members = Members(servers, name, topics, **config)
    try:
        yield members
    finally:
        members.leave()


def create(servers: str, *names: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})

    def made() -> bool:
        futures = admin.create_topics([NewTopic(name, 2, 3) for name in names])
        return all(future.exception(LIMIT_S) is None for future in futures.values())

    until(made, "topics", LIMIT_S)  # one that was deleted may be there for a moment


def fill(servers: str, count: int, *topics: str) -> None:
    """So that each partition of each topic has `count` records more."""
    for topic in topics:
        producer = Producer({"bootstrap.servers": servers})
        for partition in (0, 1):
            for number in range(count):
                producer.produce(topic, f"record {number}".encode(), partition=partition)
        producer.flush(LIMIT_S)


def story(protocol: str, cluster: RealCluster, into: Path) -> None:
    tools = Tools(TOOLS[cluster.release])
    servers = cluster.bootstrap_servers
    name = f"billing-{protocol}"
    config = {"group.protocol": protocol}
    admin = AdminClient({"bootstrap.servers": servers})

    def groups(*arguments: str) -> None:
        out, error = tools.run(TOOL, "--bootstrap-server", servers, *arguments)
        if "Error" in out + error:
            raise RuntimeError(out + error)

    create(servers, *TOPICS)
    fill(servers, 6, *TOPICS)
    with group(servers, f"gone-{protocol}", ["orders"], **config) as gone:
        gone.join()
        gone.read(12)
    with group(servers, f"dead-{protocol}", ["orders"], **config) as dead:
        dead.join()
        dead.read(12)
    groups("--delete", "--group", f"gone-{protocol}")
    with group(servers, name, list(TOPICS), **config) as billing:
        billing.join()
        billing.read(12)
        second = billing.join()
        billing.read(24)
        for node in (2, 3):
            cluster.stop_broker(node)
            fill(servers, 2, *TOPICS)
            billing.read(12)
            cluster.start_broker(node)
        billing.leave(second)
        fill(servers, 2, *TOPICS)
        billing.read(12)
        admin.delete_topics(["doomed"])["doomed"].result(LIMIT_S)
        fill(servers, 2, "orders", "other")
        billing.read(8)
        create(servers, "doomed")
        fill(servers, 3, *TOPICS)
        billing.read(12)  # at least: a client may take a while to notice that "doomed" is another
    groups("--reset-offsets", "--group", name, "--topic", "orders", "--to-offset", "4", "--execute")
    groups("--delete-offsets", "--group", name, "--topic", "other:0")
    with group(servers, name, ["orders", "other"], **config) as billing:
        billing.join()
        billing.read(10)
        groups("--delete-offsets", "--group", name, "--topic", "doomed")
        fill(servers, 2, "orders", "other")
        billing.read(8)
        expired = re.compile(r"Removed \d+ expired|cleaning up group metadata")
        until(
            lambda: any(bool(expired.search(log(cluster, node))) for node in cluster.ports),
            "the expiry",
            LIMIT_S,
        )
        fill(servers, 2, "orders")
        billing.read(4)
    take(cluster, into)


def take(cluster: RealCluster, into: Path) -> None:
    for node in (3, 2):  # the coordinators in turn; 1 is the controller, without which none can stop
        cluster.stop_broker(node)
        folder = into / f"broker{node}" / "__consumer_offsets-0"
        folder.mkdir(parents=True)
        shutil.copy(cluster.data(node) / folder.name / "00000000000000000000.log", folder)
        lines = log(cluster, node).splitlines(keepends=True)
        kept = [line for line in lines if _KEPT.search(line) and not _NOISE.search(line) and len(line) < 1500]
        (into / f"broker{node}" / "server.log").write_text("".join(kept))


def classic(cluster: RealCluster, into: Path) -> None:
    """Groups of the classic protocol."""
    story("classic", cluster, into)


def consumer(cluster: RealCluster, into: Path) -> None:
    """Groups of the consumer protocol."""
    if int(cluster.release.split(".")[0]) < 4:
        raise LacksApiError("the consumer protocol")
    story("consumer", cluster, into)


STORIES = Files(
    HERE,
    named(classic, consumer),
    Setting(3, CONFIG),
    list(TOOLS),
    "healthy-{release}/{name}",
)
