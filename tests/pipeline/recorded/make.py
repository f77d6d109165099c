"""Has real brokers, clients and tools write what the readers read:
`python -m mockbroker.rig record tests.pipeline.recorded.make`.

One story: records in every compression, transactions that commit and
abort, commits and a deleted group, DeleteRecords, a consumer whose position is gone by retention, a follower
that falls out of the ISR, an unclean election, and the old leader that truncates. What was written is kept,
with the commands in `commands.txt`; of logs, the lines that `_KEPT` fits and a few others.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.real_tools import Tools
from mockbroker.rig.setup import INTERNAL_TOPICS
from mockbroker.rig.stories import Files, Setting, named

from ...driving.until import until

RELEASES = ("3.9.2", "4.3.1")
OLDER_TOOLS = "2.8.2"
HERE = Path(__file__).parent
CONFIG = {
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.check.interval.ms": "500",
    **INTERNAL_TOPICS,
    "replica.lag.time.max.ms": "2000",
    "unclean.leader.election.enable": "true",
    "log.initial.task.delay.ms": "500",
}
LIMIT_S = 60.0
_KEPT = re.compile(r"orders|short|readers|late|gone|ISR|runcat|ERROR|started \(")
_NOISE = re.compile(r"Config values|Created log|LogConfig|QuorumController|KRaftMigration|RaftManager")


def log(cluster: RealCluster, node: int) -> str:
    """A broker's, without the folder that it is in."""
    return cluster.log(node).replace(str(cluster.folder), "")


def produce(servers: str, topic: str, count: int, **config: object) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, **config})
    for number in range(count):
        producer.produce(topic, f"record {number}".encode(), f"key {number}".encode())
    producer.flush(LIMIT_S)


def transactions(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "mover"})
    producer.init_transactions(LIMIT_S)
    reader = Consumer({"bootstrap.servers": servers, "group.id": "readers"})
    for commit in (True, False):
        producer.begin_transaction()
        producer.produce("orders", b"moved")
        offsets = [TopicPartition("orders", 0, 4 if commit else 5)]
        producer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), LIMIT_S)
        producer.flush(LIMIT_S)
        if commit:
            producer.commit_transaction(LIMIT_S)
        else:
            producer.abort_transaction(LIMIT_S)
    reader.close()


def consume(servers: str, group: str, topic: str, count: int) -> None:
    """As a member of the group, so that its generations are in the offsets topic."""
    own = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
    consumer = Consumer({**own, "enable.auto.commit": False})
    consumer.subscribe([topic])
    read = 0
    while read < count:
        message = consumer.poll(LIMIT_S)
        read += message is not None and message.error() is None
    consumer.commit(asynchronous=False)
    consumer.close()


def happened(cluster: RealCluster, tools: Tools) -> str:
    """Returns the log of the consumer whose position was gone."""
    servers = cluster.bootstrap_servers
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [
        NewTopic("orders", 1, replica_assignment=[[2, 3]]),
        NewTopic("short", 1, replica_assignment=[[1]]),
    ]
    for future in admin.create_topics(topics).values():
        future.result(LIMIT_S)
    produce(servers, "short", 5)
    consume(servers, "late", "short", 2)
    alter = ConfigResource(
        ResourceType.TOPIC,
        "short",
        incremental_configs=[
            ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
        ],
    )
    for altered in admin.incremental_alter_configs([alter]).values():
        altered.result(LIMIT_S)
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        produce(servers, "orders", 2, **{"compression.type": codec, "enable.idempotence": codec == "none"})
    transactions(servers)
    consume(servers, "readers", "orders", 6)
    consume(servers, "gone", "orders", 2)
    admin.delete_consumer_groups(["gone"])["gone"].result(LIMIT_S)
    for deleted in admin.delete_records([TopicPartition("orders", 0, 3)]).values():
        deleted.result(LIMIT_S)
    moved = re.compile(r"partition=short-0.*[Ii]ncrement\w+ log start offset to 5")
    until(lambda: bool(moved.search(log(cluster, 1))), "retention", LIMIT_S)
    produce(servers, "short", 1)
    reset = ("--bootstrap-server", servers, "--topic", "short", "--group", "late", "--timeout-ms", "4000")
    console = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    _, client_log = tools.run(console, *reset, "--consumer-property", "auto.offset.reset=earliest")
    cluster.hold(3)
    produce(servers, "orders", 1, acks=1)  # answers the fetch that is under way
    until(lambda: "Shrinking ISR" in log(cluster, 2), "the ISR to shrink", LIMIT_S)
    produce(servers, "orders", 5, acks=1)
    cluster.kill_broker(2)
    cluster.let_go(3)
    until(lambda: "Leader orders-0" in log(cluster, 3), "the unclean election", LIMIT_S)
    produce(servers, "orders", 2, acks=1)
    cluster.start_broker(2)
    until(lambda: "Truncating to offset" in log(cluster, 2), "the truncation", LIMIT_S)
    return client_log


def story(cluster: RealCluster, into: Path) -> None:
    """Records, transactions and groups; then retention, an unclean election and a truncation."""
    tools, older = Tools(cluster.release), Tools(OLDER_TOOLS)
    commands: list[str] = []
    client_log = happened(cluster, tools)
    (into / "client.log").write_text(_selected(client_log))
    for node in cluster.ports:
        (into / f"broker{node}.log").write_text(_selected(log(cluster, node)))
    for formatter in _formatters(cluster.release):
        if formatter[0].endswith(".txt") and cluster.release != RELEASES[0]:
            continue  # the older consumer speaks no version that 4.x does
        _consume_internal(cluster, tools, older, formatter, into, commands)
    _take_files(cluster, into)
    for each in (tools, older) if cluster.release == RELEASES[0] else (tools,):
        _dump(each, into, commands)
    file = HERE / "commands.txt"
    kept = file.read_text().splitlines() if file.exists() else []
    file.write_text("\n".join(dict.fromkeys([*kept, *commands])) + "\n")


def _selected(log: str) -> str:
    """Entries that tell of the story, with their stack traces, and now and then another."""
    kept, keeps = [], False
    for number, line in enumerate(log.splitlines()):
        if line.startswith("["):
            keeps = (bool(_KEPT.search(line)) or number % 100 == 0) and not _NOISE.search(line)
        if keeps and len(line) < 1500:
            kept.append(line)
    return "\n".join(kept) + "\n"


def _formatters(release: str) -> list[tuple[str, str, str]]:
    package, older = "org.apache.kafka.tools.consumer", "kafka.coordinator"
    return [
        ("offsets.json", "__consumer_offsets", f"{package}.OffsetsMessageFormatter"),
        ("groups.json", "__consumer_offsets", f"{package}.GroupMetadataMessageFormatter"),
        ("transactions.json", "__transaction_state", f"{package}.TransactionLogMessageFormatter"),
        (
            "offsets.txt",
            "__consumer_offsets",
            f"{older}.group.GroupMetadataManager$OffsetsMessageFormatter",
        ),
        (
            "transactions.txt",
            "__transaction_state",
            f"{older}.transaction.TransactionLog$TransactionLogMessageFormatter",
        ),
    ]


def _consume_internal(
    cluster: RealCluster,
    tools: Tools,
    older: Tools,
    formatter: tuple[str, str, str],
    into: Path,
    commands: list[str],
) -> None:
    name, topic, formatter_class = formatter
    old = name.endswith(".txt")
    main_class = "kafka.tools.ConsoleConsumer" if old else "org.apache.kafka.tools.consumer.ConsoleConsumer"
    arguments = ["--topic", topic, "--from-beginning", "--timeout-ms", "4000", "--formatter", formatter_class]
    out, _ = (older if old else tools).run(
        main_class, "--bootstrap-server", cluster.bootstrap_servers, *arguments
    )
    (into / f"console-{name}").write_text(out)
    release = OLDER_TOOLS if old else cluster.release
    commands.append(f"{release}: kafka-console-consumer --bootstrap-server SERVERS {' '.join(arguments)}")


def _take_files(cluster: RealCluster, into: Path) -> None:
    for node in cluster.ports:
        for folder in sorted(cluster.data(node).glob("*-0")):
            if folder.name not in ("orders-0", "__consumer_offsets-0", "__transaction_state-0"):
                continue
            if folder.name == "orders-0" and node != 2:
                continue
            (into / folder.name).mkdir()
            for name in ("00000000000000000000.log", "leader-epoch-checkpoint"):
                shutil.copy(folder / name, into / folder.name / name)


def _dump(tools: Tools, into: Path, commands: list[str]) -> None:
    main_class = "kafka.tools.DumpLogSegments"
    if tools.release.startswith("4."):
        main_class = "org.apache.kafka.tools.DumpLogSegments"
    for name, folder, options in (
        ("batches", "orders-0", []),
        ("records", "orders-0", ["--print-data-log"]),
        ("offsets", "__consumer_offsets-0", ["--offsets-decoder"]),
        ("transactions", "__transaction_state-0", ["--transaction-log-decoder"]),
    ):
        arguments = ["--files", f"{folder}/00000000000000000000.log", *options]
        out, _ = tools.run(main_class, *arguments, folder=into)
        (into / f"dump-log-{tools.release}-{name}.txt").write_text(out)
        commands.append(f"{tools.release}: kafka-dump-log {' '.join(arguments)}")


STORIES = Files(HERE, named(story), Setting(3, CONFIG), RELEASES)
