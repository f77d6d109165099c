"""Has real brokers write an offsets topic of 7 partitions:
`python -m mockbroker.rig record tests.dumps.recorded.make`.

Groups commit offsets with metadata, one is deleted, one has a member, and in one a transaction is open while
the broker is killed. Kept are the segments that are not empty, what `kafka-dump-log --offsets-decoder` prints
for them, and in `committed.json` what the broker answered to OffsetFetch.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.real_tools import Tools
from mockbroker.rig.setup import INTERNAL_TOPICS
from mockbroker.rig.stories import Files, Setting, named

RELEASES = {"3.9.2": "3.9.2", "4.4.0": "4.3.1"}
"""Of brokers, and of the tool that dumps their segments."""
HERE = Path(__file__).parent
CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    **INTERNAL_TOPICS,
    "offsets.topic.num.partitions": "7",
    "offsets.topic.segment.bytes": "1048576",
}
GROUPS = ("billing", "shipping", "reports", "gone")
LIMIT_S = 120.0


def commits(servers: dict[str, str | int | float | bool]) -> None:
    for number, group in enumerate(GROUPS):
        alone = Consumer({**servers, "group.id": group})
        for turn in range(3):
            offsets = [
                TopicPartition("orders", index, 100 * number + 10 * index + turn, f"turn {turn}")
                for index in range(number + 1)
            ]
            commit(alone, offsets)
        alone.close()


def commit(alone: Consumer, offsets: list[TopicPartition]) -> None:
    """Without being a member; the coordinator may not be there at once."""
    limit = time.monotonic() + LIMIT_S
    while True:
        try:
            alone.commit(offsets=offsets, asynchronous=False)
        except KafkaException:
            if time.monotonic() > limit:
                raise
            time.sleep(0.5)
        else:
            return


def committed(admin: AdminClient) -> dict[str, dict[str, tuple[int, str]]]:
    found = {}
    for group in (*GROUPS, "readers", "movers"):
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group]
        offsets = asked.result(LIMIT_S).topic_partitions or []
        found[group] = {
            f"{each.topic}-{each.partition}": (each.offset, each.metadata or "") for each in offsets
        }
    return found


def committed_offsets(cluster: RealCluster) -> dict[str, dict[str, tuple[int, str]]]:
    """What the groups have committed, before the broker is killed."""
    servers: dict[str, str | int | float | bool] = {"bootstrap.servers": cluster.bootstrap_servers}
    admin = AdminClient(servers)
    for created in admin.create_topics([NewTopic("orders", 6, 1), NewTopic("bills", 2, 1)]).values():
        created.result(LIMIT_S)
    commits(servers)
    admin.delete_consumer_groups(["gone"])["gone"].result(LIMIT_S)
    own = {**servers, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    reader = Consumer({**own, "group.id": "readers"})
    reader.subscribe(["bills"])
    producer = Producer(servers)
    for _ in range(5):
        producer.produce("bills", b"a bill", partition=1)
    producer.flush(LIMIT_S)
    for _ in range(5):
        message = reader.poll(LIMIT_S)
        assert message is not None
        assert not message.error()
    reader.commit(asynchronous=False)
    mover = Producer({**servers, "transactional.id": "mover", "transaction.timeout.ms": 600_000})
    mover.init_transactions(LIMIT_S)
    alone = Consumer({**own, "group.id": "movers"})
    for offset in (3, 4):
        mover.begin_transaction()
        mover.produce("orders", b"moved")
        offsets = [TopicPartition("bills", 1, offset)]
        mover.send_offsets_to_transaction(offsets, alone.consumer_group_metadata(), LIMIT_S)
        mover.flush(LIMIT_S)
        if offset == 3:
            mover.commit_transaction(LIMIT_S)
    found = committed(admin)
    cluster.kill_broker(1)  # before the member leaves and the transaction ends
    return found


def dump(tools: Tools, folder: Path, segment: Path) -> str:
    """What the tool prints, with names of files as from that folder."""
    package = "org.apache.kafka.tools" if tools.release.startswith("4.") else "kafka.tools"
    out, errors = tools.run(f"{package}.DumpLogSegments", "--offsets-decoder", "--files", str(segment))
    assert out, errors
    return out.replace(f"{folder}/", "")


def story(cluster: RealCluster, into: Path) -> None:
    """Groups that commit, one that is deleted, one that has a member, and an open transaction."""
    tools = Tools(RELEASES[cluster.release])
    found = committed_offsets(cluster)
    (into / "committed.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    dumps = []
    for segment in sorted(cluster.data(1).glob("__consumer_offsets-*/*.log")):
        if segment.stat().st_size:
            kept = into / "data" / segment.parent.name / segment.name
            kept.parent.mkdir(parents=True)
            shutil.copy(segment, kept)
            dumps.append(dump(tools, into / "data", kept))
    (into / "dump-log.txt").write_text("".join(dumps))


STORIES = Files(HERE, named(story), Setting(1, CONFIG), list(RELEASES))
