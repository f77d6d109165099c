"""Where a story is told: a cluster of four brokers that can be stopped, killed and kept from fetching."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from mockbroker.rig import batches, requests, stage
from mockbroker.rig.brokers import Brokers
from mockbroker.rig.stories import Steps

Story = Callable[["ControllerStage"], Steps]


class ControllerStage(stage.Stage):
    """A story's cluster, with the requests that it needs."""

    highest: ClassVar = {"produce": 12, "metadata": 12}
    """From the next version on topics are named by their ids only."""

    def __init__(self, brokers: Brokers, name: str) -> None:
        super().__init__(brokers, name)
        self.topics: list[str] = []

    def command(self, api: str, fields: Mapping[str, Any], *, version: int | None = None) -> Any:
        """Asks the controller; with KRaft any broker passes it on."""
        answer = self.ask("metadata", {"topics": []})
        broker = answer["controller_id"] if self.zookeeper else self.online[0]
        found = self.ask(api, {"timeout": 20_000, **fields}, broker=broker, version=version)
        found.pop("throttle_time", None)
        return found

    # -- topics

    def create(
        self, topic: str, replicas: Sequence[Sequence[int]], *, records: int = 1, **configs: str
    ) -> None:
        made = requests.new_topic(topic, replicas=replicas, configs=requests.dotted(configs))
        answer = self.command("create_topics", requests.create_topics(made))["topics"][0]
        assert answer["error_code"] == "NONE", answer
        self.topics.append(topic)
        self.describe(topic)
        for index, each in enumerate(replicas):
            self.fill(topic, index, each[0], records)

    def fill(self, topic: str, index: int, leader: int, records: int, acks: int = -1) -> str:
        parts = [{"index": index, "records": batches.batch(records)}] if records else []
        data = [{"name": topic, "partition_data": parts}]
        fields = {"acks": acks, "timeout": 10_000, "topic_data": data, "transactional_id": None}
        if not records:
            return "NONE"
        answer = self.ask("produce", fields, broker=leader)
        return str(answer["responses"][0]["partition_responses"][0]["error_code"])

    def look(self, topic: str, broker: int) -> Any:
        """As `broker` tells it: leader, leader epoch, replicas, ISR, offline replicas; where it tells them,
        also eligible leader replicas and the last known ones. In-sync replicas and the following rise."""
        (found,) = self.ask("metadata", requests.metadata(topic), broker=broker)["topics"]
        if found["error_code"] != "NONE":
            return found["error_code"]
        parts = {
            each["partition_index"]: {
                "leader": each["leader_id"],
                "epoch": each["leader_epoch"],
                "replicas": each["replica_nodes"],
                "isr": sorted(each["isr_nodes"]),
                "offline": sorted(each["offline_replicas"]),
            }
            for each in found["partitions"]
        }
        if self.newest("describe_topic_partitions") >= 0:
            fields = {"topics": [{"name": topic}], "response_partition_limit": 100, "cursor": None}
            (found,) = self.ask("describe_topic_partitions", fields, broker=broker)["topics"]
            for each in found["partitions"]:
                part = parts.get(each["partition_index"], {})
                for name, field in (
                    ("elr", "eligible_leader_replicas"),
                    ("last known elr", "last_known_elr"),
                    ("offline, described", "offline_replicas"),
                ):
                    value = each[field]
                    if name != "offline, described" or sorted(value) != part.get("offline"):
                        part[name] = None if value is None else sorted(value)
                if sorted(each["isr_nodes"]) != part.get("isr"):
                    part["isr, described"] = sorted(each["isr_nodes"])
                if each["leader_id"] != part.get("leader"):
                    part["leader, described"] = each["leader_id"]
        return [parts[index] for index in sorted(parts)]

    def describe(self, topic: str) -> Any:
        """What all brokers tell of it, once they agree."""
        return self.settled(lambda broker: self.look(topic, broker))

    # -- what the controller is asked for

    def reassign(
        self,
        topics: Mapping[str, Mapping[int, Sequence[int] | None]],
        *,
        version: int | None = None,
        factor: bool = True,
    ) -> Any:
        named = [
            {
                "name": name,
                "partitions": [
                    {"partition_index": index, "replicas": None if to is None else list(to)}
                    for index, to in parts.items()
                ],
            }
            for name, parts in topics.items()
        ]
        fields = {"topics": named, "allow_replication_factor_change": factor}
        found = self.command("alter_partition_reassignments", fields, version=version)
        found.pop("allow_replication_factor_change", None)
        for each in found["responses"]:
            each["partitions"].sort(key=lambda part: part["partition_index"])
        found["responses"].sort(key=lambda each: each["name"])
        return found

    def under_way(self, topics: Mapping[str, Sequence[int]] | None = None) -> Any:
        named = topics and [{"name": name, "partition_indexes": parts} for name, parts in topics.items()]
        found = self.command("list_partition_reassignments", {"topics": named})
        for each in found["topics"]:
            each["partitions"].sort(key=lambda part: part["partition_index"])
        found["topics"].sort(key=lambda each: each["name"])
        return found

    def elect(self, kind: int, topics: Mapping[str, Sequence[int]] | None) -> Any:
        named = None if topics is None else [{"topic": n, "partitions": p} for n, p in topics.items()]
        found = self.command("elect_leaders", {"election_type": kind, "topic_partitions": named})
        for each in found["replica_election_results"]:
            each["partition_result"].sort(key=lambda part: part["partition_id"])
        found["replica_election_results"].sort(key=lambda each: each["topic"])
        return found

    def configure(self, topic: str, **configs: str | None) -> Any:
        fields = requests.configure(requests.TOPIC, topic, requests.dotted(configs))
        answer = self.ask("incremental_alter_configs", fields)
        return [answer["responses"][0][name] for name in ("error_code", "error_message")]

    def delete(self, topic: str) -> Any:
        answer = self.command("delete_topics", requests.delete_topics(topic))
        return answer["responses"][0]["error_code"]

    def restore(self) -> None:
        """All brokers are well again, and no topic is left."""
        super().restore()
        for topic in self.topics:
            self.describe(topic)
            self.delete(topic)
            while self.describe(topic) != "UNKNOWN_TOPIC_OR_PARTITION":
                pass
