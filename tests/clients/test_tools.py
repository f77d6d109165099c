"""Kafka's command line tools, with the output that a real broker gives."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from confluent_kafka import Consumer, Producer

from .. import needs
from . import confluent, scenario
from .console import tool
from .scenario import PARTITIONS, TIMEOUT, Plan

MAIN = {
    "acls": "org.apache.kafka.tools.AclCommand",
    "client metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "configs": "kafka.admin.ConfigCommand",
    "delegation tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "features": "org.apache.kafka.tools.FeatureCommand",
    "groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "log dirs": "org.apache.kafka.tools.LogDirsCommand",
    "offsets": "org.apache.kafka.tools.GetOffsetShell",
    "quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "topics": "org.apache.kafka.tools.TopicCommand",
}
EACH = 10
"""Records in each partition."""


class Tools:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self.errors = ""
        """What the last one wrote to stderr."""

    def __call__(self, name: str, arguments: str, status: int = 0) -> str:
        """What the tool prints on stdout."""
        command = tool(MAIN[name], "--bootstrap-server", self._bootstrap, *arguments.split())
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert done.returncode == status, f"{done.stdout}\n{done.stderr}"
        self.errors = done.stderr
        return done.stdout.strip()


@pytest.fixture
@needs.brings(*needs.JAVA)
def tools(bootstrap: str) -> Tools:
    return Tools(bootstrap)


@pytest.fixture
def topic(bootstrap: str, name: str) -> str:
    """A topic with records in all partitions."""
    client = confluent.Client(bootstrap)
    client.create(name)
    client.produce(Plan(name), range(EACH * PARTITIONS))
    return name


def table(output: str) -> list[dict[str, str]]:
    """The rows of a printed table."""
    lines = [line.split() for line in output.splitlines() if line]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def dynamic(config: str, default: str) -> str:
    synonyms = f"DYNAMIC_TOPIC_CONFIG:{config}, DEFAULT_CONFIG:{default}"
    return f"{config} sensitive=false synonyms={{{synonyms}}}"


def test_topics(tools: Tools, name: str) -> None:
    create = f"--create --topic {name} --replica-assignment 1:2,2:3,3:1 --config retention.ms=60000"
    assert tools("topics", create) == f"Created topic {name}."
    assert f"Topic '{name}' already exists." in tools("topics", create, status=1)
    assert name in tools("topics", "--list").split()

    head, *partitions = tools("topics", f"--describe --topic {name}").splitlines()
    shape = r"Topic: (\S+)\tTopicId: [\w-]{22}\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: (\S+)"
    match = re.fullmatch(shape, head)
    assert match, head
    assert match[1] == name
    assert {"min.insync.replicas=1", "retention.ms=60000"} <= set(match[2].split(","))
    assert [line.strip() for line in partitions] == [
        f"Topic: {name}\tPartition: {p}\tLeader: {a}\tReplicas: {a},{b}\tIsr: {a},{b}\tElr: \tLastKnownElr:"
        for p, (a, b) in enumerate([(1, 2), (2, 3), (3, 1)])
    ]

    assert tools("topics", f"--alter --topic {name} --partitions 4") == ""
    assert "PartitionCount: 4" in tools("topics", f"--describe --topic {name}")
    fewer = f"The topic {name} currently has 4 partition(s); 2 would not be an increase."
    assert fewer in tools("topics", f"--alter --topic {name} --partitions 2", status=1)

    assert tools("topics", f"--delete --topic {name}") == ""
    gone = f"Topic '{name}' does not exist as expected"
    assert gone in tools("topics", f"--describe --topic {name}", status=1)


def test_configs(tools: Tools, topic: str) -> None:
    entity = f"--entity-type topics --entity-name {topic}"
    title = f"Dynamic configs for topic {topic} are:"
    assert tools("configs", f"--describe {entity}") == title
    added = f"--alter {entity} --add-config cleanup.policy=compact,max.message.bytes=2000000"
    assert tools("configs", added) == f"Completed updating config for topic {topic}."
    assert [line.strip() for line in tools("configs", f"--describe {entity}").splitlines()] == [
        title,
        dynamic("cleanup.policy=compact", "log.cleanup.policy=delete"),
        dynamic("max.message.bytes=2000000", "message.max.bytes=1048588"),
    ]
    tools("configs", f"--alter {entity} --delete-config max.message.bytes")
    left = tools("configs", f"--describe {entity}")
    assert "cleanup.policy=compact" in left
    assert "max.message.bytes" not in left
    tools("configs", f"--alter {entity} --add-config cleanup.policy=nonsense", status=1)
    assert (
        "InvalidConfigurationException: Invalid value nonsense for configuration cleanup.policy"
        in tools.errors
    )
    unknown = tools("configs", f"--describe --entity-type topics --entity-name {topic}-unknown")
    assert unknown == f"The topic '{topic}-unknown' doesn't exist and doesn't have dynamic config."


def test_get_offsets(tools: Tools, topic: str) -> None:
    assert tools("offsets", f"--topic {topic}") == "\n".join(f"{topic}:{p}:{EACH}" for p in range(PARTITIONS))
    earliest = f"--topic-partitions {topic}:0,{topic}:2 --time earliest"
    assert tools("offsets", earliest) == f"{topic}:0:0\n{topic}:2:0"
    unknown = "Could not match any topic-partitions with the specified filters"
    tools("offsets", f"--topic {topic}-unknown", status=1)
    assert unknown in tools.errors


def test_log_dirs(tools: Tools, topic: str) -> None:
    output = tools("log dirs", f"--describe --topic-list {topic} --broker-list 1,2")
    *_, told = output.splitlines()
    for broker, described in zip((1, 2), json.loads(told)["brokers"], strict=True):
        (folder,) = described["logDirs"]
        assert (described["broker"], folder["error"], folder["logDir"]) == (broker, None, "/tmp/kafka-logs")
        sizes = {each["partition"]: each.pop("size") for each in folder["partitions"]}
        assert set(sizes) == {f"{topic}-{index}" for index in range(PARTITIONS)}
        assert all(size > EACH for size in sizes.values())
        assert all(not each["offsetLag"] and not each["isFuture"] for each in folder["partitions"])


def test_consumer_groups(tools: Tools, bootstrap: str, topic: str) -> None:
    plan = Plan(topic)
    group = plan.group
    run = scenario.Run(confluent.Client(bootstrap), plan)
    run.join("a", "a")
    try:
        run.until(lambda: len(run.seen) == EACH * PARTITIONS)
        run.members["a"].commit()
        rows = table(tools("groups", f"--describe --group {group}"))
        assert [(row["TOPIC"], row["PARTITION"], row["CURRENT-OFFSET"], row["LAG"]) for row in rows] == [
            (topic, str(p), str(EACH), "0") for p in range(PARTITIONS)
        ]
        assert {(row["HOST"], row["CLIENT-ID"]) for row in rows} == {("/127.0.0.1", "rdkafka")}
        (consumer,) = {row["CONSUMER-ID"] for row in rows}
        assert consumer.startswith("rdkafka-")
        not_empty = tools("groups", f"--delete --group {group}")
        assert f"Group '{group}' could not be deleted due to" in not_empty
        assert "GroupNotEmptyException: The group is not empty." in not_empty
    finally:
        run.leave()

    assert group in tools("groups", "--list").split()
    idle = f"Consumer group '{group}' has no active members."
    state = tools("groups", f"--describe --group {group} --state")
    assert idle in tools.errors
    assert re.search(rf"^{group} +\S+ +\([123]\) +- +Empty +0$", state, re.MULTILINE)
    reset = tools("groups", f"--reset-offsets --group {group} --topic {topic}:1 --to-offset 3 --execute")
    assert table(reset) == [{"GROUP": group, "TOPIC": topic, "PARTITION": "1", "NEW-OFFSET": "3"}]
    described = tools("groups", f"--describe --group {group}")
    assert idle in tools.errors
    assert [(row["CURRENT-OFFSET"], row["LAG"]) for row in table(described)] == [
        (str(EACH), "0"),
        ("3", str(EACH - 3)),
        (str(EACH), "0"),
    ]
    deleted = f"Deletion of requested consumer groups ('{group}') was successful."
    assert tools("groups", f"--delete --group {group}") == deleted
    assert group not in tools("groups", "--list").split()


def test_a_consumer_group_of_kafka_4(tools: Tools, bootstrap: str, topic: str) -> None:
    group = f"{topic}-group"
    config = {"group.id": group, "group.protocol": "consumer", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": bootstrap, "client.id": "member", **config})
    try:
        consumer.subscribe([topic])
        read = 0
        while read < EACH * PARTITIONS:
            read += consumer.poll(1) is not None
        consumer.commit(asynchronous=False)
        assert {"GROUP": group, "TYPE": "Consumer", "STATE": "Stable"} in table(
            tools("groups", "--list --type --state")
        )
        rows = table(tools("groups", f"--describe --group {group}"))
        assert [(row["PARTITION"], row["CURRENT-OFFSET"], row["LAG"], row["CLIENT-ID"]) for row in rows] == [
            (str(p), str(EACH), "0", "member") for p in range(PARTITIONS)
        ]
        (member,) = table(tools("groups", f"--describe --group {group} --members --verbose"))
        assert member["CURRENT-EPOCH"] == member["TARGET-EPOCH"]
        assert member["CURRENT-ASSIGNMENT"] == member["TARGET-ASSIGNMENT"] == f"{topic}:0,1,2"
        state = tools("groups", f"--describe --group {group} --state")
        assert re.search(rf"^{group} +\S+ +\([123]\) +uniform +Stable +1$", state, re.MULTILINE)
    finally:
        consumer.close()
    reset = tools("groups", f"--reset-offsets --group {group} --topic {topic} --to-earliest --execute")
    assert {row["NEW-OFFSET"] for row in table(reset)} == {"0"}
    deleted = f"Deletion of requested consumer groups ('{group}') was successful."
    assert tools("groups", f"--delete --group {group}") == deleted


def test_acls_of_a_cluster_without_an_authorizer(tools: Tools) -> None:
    disabled = "SecurityDisabledException: No Authorizer is configured"
    assert f"{disabled} on the broker" in tools("acls", "--list", status=1)
    binding = "--allow-principal User:alice --operation Read --topic orders"
    assert disabled in tools("acls", f"--add {binding}", status=1)
    # It looks for what it would remove.
    assert disabled in tools("acls", f"--remove --force {binding}", status=1)


def test_client_quotas(tools: Tools, bootstrap: str, name: str) -> None:
    entity = f"--entity-type clients --entity-name {name}"
    altered = tools("configs", f"--alter --add-config producer_byte_rate=1000,request_percentage=50 {entity}")
    assert altered == f"Completed updating config for client {name}."
    described, values = tools("configs", f"--describe {entity}").split(" are ")
    assert described == f"Quota configs for client-id '{name}'"
    assert sorted(values.split(", ")) == ["producer_byte_rate=1000.0", "request_percentage=50.0"]
    refused = tools("configs", f"--alter --add-config producer_byte_rate=-1 {entity}", status=1)
    assert "Quota producer_byte_rate must be greater than 0" in refused + tools.errors

    throttled: list[float] = []
    config = {"bootstrap.servers": bootstrap, "client.id": name, "linger.ms": 0}
    producer = Producer({**config, "throttle_cb": lambda event: throttled.append(event.throttle_time)})
    producer.produce(name, b"v" * 11_000)
    assert producer.flush(TIMEOUT) == 0
    # In ten seconds 10,000 bytes may come; the request has some more than the record.
    assert 1 <= throttled[0] < 2

    removed = tools("configs", f"--alter --delete-config producer_byte_rate {entity}")
    assert removed == f"Completed updating config for client {name}."
    assert tools("configs", f"--describe {entity}") == f"{described} are request_percentage=50.0"


def test_scram_users(tools: Tools, name: str) -> None:
    user = f"--entity-type users --entity-name {name}"
    credential = "SCRAM-SHA-256=[iterations=8192,password=secret]"
    altered = f"Completed updating config for user {name}."
    assert tools("configs", f"--alter --add-config {credential} {user}") == altered
    described = f"SCRAM credential configs for user-principal '{name}' are SCRAM-SHA-256=iterations=8192"
    assert tools("configs", f"--describe {user}") == described
    assert tools("configs", f"--alter --delete-config SCRAM-SHA-256 {user}") == altered
    assert tools("configs", f"--describe {user}") == ""
    tools("configs", f"--alter --delete-config SCRAM-SHA-256 {user}", status=1)
    assert "Attempt to delete a user credential that does not exist" in tools.errors


@pytest.mark.parametrize(
    "arguments",
    [
        "--create --max-life-time-period -1 --renewer-principal User:alice",
        "--renew --hmac aG1hYw== --renew-time-period -1",
        "--expire --hmac aG1hYw== --expiry-time-period -1",
        "--describe",
    ],
)
def test_delegation_tokens_of_clients_that_have_not_logged_in(tools: Tools, arguments: str) -> None:
    tools("delegation tokens", f"{arguments} --command-config /dev/null", status=1)
    refused = "UnsupportedByAuthenticationException: Delegation Token requests are not allowed on PLAINTEXT"
    assert refused in tools.errors


def test_client_metrics(tools: Tools, name: str) -> None:
    altered = f"--alter --name {name} --interval 60000 --metrics org.apache.kafka"
    assert tools("client metrics", altered) == f"Altered client metrics config for {name}."
    assert name in tools("client metrics", "--list").split()
    described = tools("client metrics", f"--describe --name {name}").splitlines()
    assert {"  interval.ms=60000", "  metrics=org.apache.kafka"} <= set(described)
    tools("client metrics", f"--delete --name {name}")
    assert name not in tools("client metrics", "--list").split()


def test_metadata_quorum(tools: Tools) -> None:
    told = dict(line.split(":", 1) for line in tools("quorum", "describe --status").splitlines())
    assert told["MaxFollowerLag"].strip() == "0"
    leader = int(told["LeaderId"])
    ((voter, endpoints),) = (each.values() for each in json.loads(told["CurrentVoters"]))
    assert voter == leader
    assert re.fullmatch(r"CONTROLLER://127\.0\.0\.1:\d+", *endpoints)
    assert {each["id"] for each in json.loads(told["CurrentObservers"])} == {1, 2, 3} - {leader}
    rows = table(tools("quorum", "describe --replication"))
    assert {int(row["NodeId"]): row["Status"] for row in rows} == {
        each: "Leader" if each == leader else "Observer" for each in (1, 2, 3)
    }
    assert {row["Lag"] for row in rows} == {"0"}


def test_features(tools: Tools) -> None:
    def levels() -> dict[str, str]:
        shape = r"Feature: (\S+)\s.*FinalizedVersionLevel: (\S+)"
        return dict(re.findall(shape, tools("features", "describe")))

    before = levels()
    assert {"group.version": "1", "transaction.version": "2", "kraft.version": "0"}.items() <= before.items()
    dry = tools("features", "downgrade --feature transaction.version=1 --dry-run")
    assert dry == "transaction.version can be downgraded to 1."
    down = tools("features", "downgrade --feature group.version=0")
    assert down == "group.version was downgraded to 0."
    try:
        assert levels() == {**before, "group.version": "0"}
    finally:
        up = tools("features", "upgrade --feature group.version=1")
    assert up == "group.version was upgraded to 1."
    refused = tools("features", "upgrade --feature group.version=7", status=1)
    assert refused.startswith("Could not upgrade group.version to 7. The update failed for all features")
    assert refused.endswith("Local controller 1 only supports versions 0-1")
    assert levels() == before
