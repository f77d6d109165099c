"""The oldest versions of other requests."""

from typing import Any, Final

from mockbroker.rig import requests
from mockbroker.rig.batches import OLD, Record, batch
from mockbroker.rig.client import DisconnectedError
from mockbroker.rig.stories import Steps

from .stage import OldStage, only

_FAR_MS: Final = 9_999_999_999_999
GROUP: Final = "old-group"


def listing(s: OldStage) -> Steps:
    """ListOffsets v0: where segments begin, and the end."""
    s.create("listed", segment_bytes="400")
    s.create("nothing")
    s.produce(s.newest("produce", 7), "nothing", batch(2))
    s.ask("delete_records", requests.delete_records("nothing", 2), version=0)
    for _ in range(3):
        written = s.produce(s.newest("produce", 7), "listed", batch([Record(b"v" * 100, timestamp=OLD)] * 2))
        assert written["error_code"] == "NONE"
    s.ask("delete_records", requests.delete_records("listed", 1), version=0)

    def listed(name: str, timestamp: int, most: int, replica_id: int = -1) -> Any:
        part = {"partition_index": 0, "timestamp": timestamp, "max_num_offsets": most}
        fields = {"replica_id": replica_id, "topics": [{"name": name, "partitions": [part]}]}
        try:
            return only(s.ask("list_offsets", fields, version=0), "topics", "partitions")
        except DisconnectedError:
            return "closed"

    for name in ("listed", "nothing", "no-such-topic"):
        for timestamp in (-1, -2, -3, 0, OLD, _FAR_MS):
            for most in (0, 1, 2, 3, 10):
                yield f"{name} {timestamp} {most}", listed(name, timestamp, most)
    for replica_id in (-2, 1, 5):
        yield f"replica {replica_id}", listed("listed", -1, 10, replica_id)
    yield "-1 of them", listed("listed", -1, -1)


def committing(s: OldStage) -> Steps:
    """OffsetCommit v0 and v1, OffsetFetch v0 and v1."""
    s.create("committed")
    s.until_coordinated(GROUP)

    def commit(
        version: int, offset: int, name: str = "committed", metadata: str | None = "", **more: Any
    ) -> Any:
        part = {
            "partition_index": more.pop("index", 0),
            "committed_offset": offset,
            "committed_metadata": metadata,
            "commit_timestamp": -1,
        }
        fields = {
            "group_id": GROUP,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "topics": [{"name": name, "partitions": [part]}],
            **more,
        }
        return s.ask("offset_commit", fields, version=version)

    def fetched(version: int, group: str = GROUP, name: str = "committed", index: int = 0) -> Any:
        fields = {"group_id": group, "topics": [{"name": name, "partition_indexes": [index]}]}
        return s.ask("offset_fetch", fields, version=version)

    for version in (0, 1):
        yield f"v{version}, nothing yet", fetched(version)
    for version in (0, 1):
        yield f"commit v{version}", commit(version, 5 + version, metadata="m")
        for asked in (0, 1):
            yield f"then v{asked}", fetched(asked)
        yield f"commit v{version}, no such topic", commit(version, 5, "no-such-topic")
        yield f"commit v{version}, no such partition", commit(version, 5, index=7)
        yield f"commit v{version}, long metadata", commit(version, 9, metadata="m" * 4097)
        yield f"commit v{version}, null metadata", commit(version, 8, metadata=None)
        yield f"commit v{version}, no group", commit(version, 5, group_id="")
        yield f"commit v{version}, nothing", commit(version, 5, topics=[])
        yield f"v{version}, another group", fetched(version, "another")
        yield f"v{version}, no such topic", fetched(version, name="no-such-topic")
        yield f"v{version}, no such partition", fetched(version, index=7)
        yield f"v{version}, no group", fetched(version, "")
        yield f"v{version}", fetched(version)
    yield "v1, a generation", commit(1, 5, generation_id_or_member_epoch=3, member_id="m")


def topics(s: OldStage) -> Steps:
    """CreateTopics v0 and v1, DeleteTopics v0."""
    for version in (0, 1):
        for label, asked in {
            "one": requests.new_topic(f"made-{version}"),
            "again": requests.new_topic(f"made-{version}"),
            "no partitions": requests.new_topic("bad", 0),
            "default partitions": requests.new_topic("bad", -1, -1),
            "too many replicas": requests.new_topic("bad", 1, 9),
            "a bad name": requests.new_topic("b/d"),
            "a bad configuration": requests.new_topic("bad", configs={"no.such": "1"}),
        }.items():
            answer = s.ask("create_topics", requests.create_topics(asked), version=version)
            if label == "a bad name":
                # Its message is another one for each release.
                answer["topics"][0].pop("error_message", None)
            yield f"create v{version}, {label}", answer
    s.brokers.until(lambda: s.end("made-0") == 0, "the topic to be there")
    for name in ("made-0", "made-0", "no-such-topic"):
        yield f"delete {name}", s.ask("delete_topics", requests.delete_topics(name), version=0)
        s.brokers.until(lambda: s.end("made-0") == -1, "the topic to be gone")


def describing(s: OldStage) -> Steps:
    """DescribeConfigs v0."""
    s.create("described", retention_ms="1000", cleanup_policy="delete")
    keys = ["retention.ms", "cleanup.policy", "segment.bytes", "retention.bytes"]
    for label, kind, name, asked in (
        ("topic", 2, "described", keys),
        ("no keys", 2, "described", []),
        ("no such topic", 2, "no-such-topic", keys),
        ("broker", 4, "1", ["num.partitions", "log.retention.bytes", "ssl.key.password"]),
        ("unknown", 99, "x", []),
    ):
        resource = {"resource_type": kind, "resource_name": name, "configuration_keys": asked}
        answer = s.ask("describe_configs", {"resources": [resource]}, version=0)
        for each in answer["results"]:
            each["configs"].sort(key=lambda config: config["name"])
        yield label, answer


def log_dirs(s: OldStage) -> Steps:
    """DescribeLogDirs v0, AlterReplicaLogDirs v0."""
    s.create("kept-there")
    s.produce(s.newest("produce", 7), "kept-there", batch(3))
    asked = [{"topic": "kept-there", "partitions": [0, 5]}]
    answer = s.ask("describe_log_dirs", {"topics": asked}, version=0)
    for each in answer["results"]:
        each["log_dir"] = "<folder>"
        each["topics"] = [topic for topic in each["topics"] if topic["name"] == "kept-there"]
    yield "described", answer
    moved = [{"path": "/no/such", "topics": [{"name": "kept-there", "partitions": [0, 5]}]}]
    yield "moved", s.ask("alter_replica_log_dirs", {"dirs": moved}, version=0)


def epochs(s: OldStage) -> Steps:
    """OffsetForLeaderEpoch v0 and v1."""
    s.create("in-epochs")
    s.produce(s.newest("produce", 7), "in-epochs", batch(3))
    for version in (0, 1):
        for epoch in (0, 1, -1):
            part = {"partition": 0, "leader_epoch": epoch}
            fields = {"topics": [{"topic": "in-epochs", "partitions": [part]}]}
            yield f"v{version}, {epoch}", s.ask("offset_for_leader_epoch", fields, version=version)


def tokens(s: OldStage) -> Steps:
    """DescribeDelegationToken v0 of a client that is not logged in."""
    s.needs("create_delegation_token")
    yield "describe", s.ask("describe_delegation_token", {"owners": None}, version=0)


def acls(s: OldStage) -> Steps:
    """ACLs, v0, which has no pattern types."""
    wanted = {"resource_type": 2, "resource_name": "t", "principal": "User:bob", "host": "*"}
    allowed = {"operation": 3, "permission_type": 3}
    yield "create", s.ask("create_acls", {"creations": [{**wanted, **allowed}]}, version=0)
    prefixed = {**wanted, **allowed, "resource_pattern_type": 4, "resource_name": "p"}
    yield "create v1, prefixed", s.ask("create_acls", {"creations": [prefixed]}, version=1)
    every = {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    }

    def described() -> Any:
        return s.ask("describe_acls", every, version=0)

    s.brokers.until(lambda: described()["resources"] != [] or described()["error_code"] != "NONE", "the ACL")
    yield "describe", described()
    yield "describe p", s.ask("describe_acls", {**every, "resource_name_filter": "p"}, version=0)
    yield "delete", s.ask("delete_acls", {"filters": [every]}, version=0)
