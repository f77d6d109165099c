"""Where a story is told: a topic, a group that reads it, and brokers in racks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mockbroker.coordinators.known_topics import KnownTopics, topic_hash
from mockbroker.protocol.consumer_group_keys import Kind, read_key
from mockbroker.protocol.consumer_group_records import PartitionsValue, read_value
from mockbroker.protocol.record_batch import parse_header, records
from mockbroker.protocol.share_group_records import ShareKind, read_share_key, read_share_value
from mockbroker.protocol.streams_group_keys import StreamsKind, read_streams_key
from mockbroker.protocol.streams_group_records import read_streams_value
from mockbroker.rig import requests

from ...driving.group_stage import GroupStage

RACKS: Final = {1: "a", 2: "b", 3: "a"}
_READERS: Final[Mapping[str, tuple[Any, Any, Any]]] = {
    "consumer": (Kind.EPOCH, read_key, read_value),
    "share": (ShareKind.EPOCH, read_share_key, read_share_value),
    "streams": (StreamsKind.EPOCH, read_streams_key, read_streams_value),
}
"""By kind of group: the record that begins an epoch, and what reads keys and values."""
_NO_TASKS: Final[Mapping[str, Any]] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
_MEMBER: Final = "memberAAAAAAAAAAAAAAAA"
_TIMEOUT_MS: Final = 20_000
_REST_S: Final = 1.0
"""In which the coordinator learns what the controller has said to all brokers."""


class RacksStage(GroupStage):
    """A group `g` of the kind that the story is named after, with one member."""

    @property
    def kind(self) -> str:
        return self.name

    def begin(self) -> None:
        self.needs(f"{self.kind}_group_heartbeat")
        super().begin()
        self._epoch = 0
        self._said: dict[str, Any] = {}

    def coordinates(self) -> bool:
        asked = {"key_type": 0, "coordinator_keys": [self.named("g")]}
        (found,) = self.ask("find_coordinator", asked, version=4)["coordinators"]
        if found["error_code"] != "NONE":
            return False
        self.home = int(found["node_id"])
        return self._described()["error_code"] in ("GROUP_ID_NOT_FOUND", "NONE")

    # -- the topic

    def placed(self, *replicas: Sequence[int]) -> None:
        """The topic, with these replicas of each partition."""
        new = requests.new_topic(self.named("t"), replicas=replicas)
        (made,) = self.ask("create_topics", requests.create_topics(new))["topics"]
        assert made["error_code"] == "NONE", made
        self._settle(*replicas)

    def reassign(self, *replicas: Sequence[int]) -> None:
        parts = [{"partition_index": at, "replicas": list(each)} for at, each in enumerate(replicas)]
        topics = [{"name": self.named("t"), "partitions": parts}]
        answer = self.ask("alter_partition_reassignments", {"timeout": _TIMEOUT_MS, "topics": topics})
        assert answer["error_code"] == "NONE", answer
        self._settle(*replicas)

    def grow(self, *replicas: Sequence[int]) -> None:
        """The last of these is new."""
        new = [{"broker_ids": list(replicas[-1])}]
        topic = {"name": self.named("t"), "count": len(replicas), "assignments": new}
        asked = {"topics": [topic], "timeout": _TIMEOUT_MS, "validate_only": False}
        (answer,) = self.ask("create_partitions", asked)["results"]
        assert answer["error_code"] == "NONE", answer
        self._settle(*replicas)

    def _settle(self, *replicas: Sequence[int]) -> None:
        wanted = [list(each) for each in replicas]
        self.brokers.until(lambda: self._replicas() == wanted, f"replicas {wanted}")
        self.brokers.sleep(_REST_S)

    def _replicas(self) -> list[list[int]] | None:
        """Once all brokers agree."""
        seen = []
        for broker in self.online:
            (topic,) = self.ask("metadata", requests.metadata(self.named("t")), broker=broker)["topics"]
            found = sorted(topic["partitions"], key=lambda each: int(each["partition_index"]))
            seen.append([each["replica_nodes"] for each in found])
            self._id = topic.get("topic_id")
        return seen[0] if all(each == seen[0] for each in seen) else None

    # -- the group

    def join(self) -> Any:
        subscribed = {"subscribed_topic_names": [self.named("t")]}
        subtopology = {"subtopology_id": "0", "source_topics": [self.named("t")]}
        kinds: dict[str, dict[str, Any]] = {
            "consumer": {"rebalance_timeout": 300_000, "topic_partitions": [], **subscribed},
            "share": subscribed,
            "streams": {
                "rebalance_timeout": 300_000,
                "topology": {"epoch": 0, "subtopologies": [subtopology]},
                "process_id": "process",
                "client_tags": [],
                **_NO_TASKS,
            },
        }
        self._said = kinds[self.kind]
        return self.beat()

    def beat(self) -> Any:
        """Until the group is stable: the member's epoch, and those of the group and its assignment."""

        def stable() -> bool:
            asked = {"group_id": self.named("g"), "member_id": _MEMBER, "member_epoch": self._epoch}
            said = self._said if not self._epoch else {}
            answer = self.ask(f"{self.kind}_group_heartbeat", {**asked, **said}, broker=self.home)
            assert answer["error_code"] == "NONE", answer
            self._epoch = answer["member_epoch"]
            return bool(self._described()["group_state"] == "Stable")

        self.brokers.until(stable, "the group to be stable")
        found = self._described()
        return [self._epoch, found["group_epoch"], found["assignment_epoch"]]

    def _described(self) -> Any:
        asked = {"group_ids": [self.named("g")]}
        return self.ask(f"{self.kind}_group_describe", asked, broker=self.home)["groups"][0]

    # -- what is written

    def kept(self) -> Any:
        """Whether the hash in the group's last record is that of its topic; or, up to 4.0, the racks of each
        partition that the record has."""
        found = self._last()
        if isinstance(found, PartitionsValue):
            (topic,) = found.topics
            return topic.racks
        replicas = self._replicas()
        assert replicas is not None
        racks = [sorted(RACKS[each] for each in some) for some in replicas]
        topic_id = self._id
        expected = KnownTopics({topic_id: topic_hash(topic_id, self.named("t"), racks)}).hash
        return f"hash of the topic: {found.metadata_hash == expected}"

    def _last(self) -> Any:
        """The group's record, of those that have its topics."""
        kind, read_key, read = _READERS[self.kind]
        epoch, described = None, None
        for key, value in self._records():
            found = read_key(key)
            if found is None or found.group != self.named("g") or value is None:
                continue
            if found.kind == kind:
                epoch = read(found.kind, value)
            elif found.kind is Kind.PARTITIONS:
                described = read(found.kind, value)
        return described or epoch

    def _records(self) -> Iterator[tuple[bytes, bytes | None]]:
        """Of `__consumer_offsets`."""
        at, end = 0, 1
        while at < end:
            part = {"partition": 0, "fetch_offset": at, "partition_max_bytes": 1 << 24}
            topics = [{"topic": "__consumer_offsets", "partitions": [part]}]
            asked = {"max_wait": 0, "max_bytes": 1 << 24, "session_epoch": -1, "topics": topics}
            answer = self.ask("fetch", asked, version=12, broker=self.home)
            (found,) = answer["responses"][0]["partitions"]
            assert found["error_code"] == "NONE", answer
            data, end = found["records"] or b"", found["high_watermark"]
            assert data or at >= end
            while data:
                header = parse_header(data)
                size = header.length + 12
                for each in records(data[:size]):
                    yield each.key or b"", each.value
                at, data = header.base_offset + header.last_offset_delta + 1, data[size:]
