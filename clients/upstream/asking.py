"""What is asked of a real cluster, and done to it, by requests. Calls wait for the answer."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from mockbroker.errors import MockBrokerError, NotThereError
from mockbroker.protocol import record_batch
from mockbroker.recordings.target import Address, Target
from mockbroker.rig import requests
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Client

PATIENCE_S: Final = 10.0
_AGAIN_S: Final = 0.05
_OK: Final = "NONE"
_EARLIEST, _LATEST = -2, -1
_FETCH_BYTES: Final = 1 << 20
_FACTOR: Final = -1
"""As many replicas as the cluster gives by default (KIP-464)."""
_MOST: Final[Mapping[str, int]] = {
    "create_topics": 7,
    "delete_groups": 2,
    "delete_records": 2,
    "delete_topics": 5,
    "fetch": 11,
    "list_groups": 4,
    "list_offsets": 5,
    "offset_fetch": 7,
    "produce": 8,
}
"""The newest versions that name topics, and one group."""
_PASSING: Final = frozenset(
    {
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "LEADER_NOT_AVAILABLE",
        "NON_EMPTY_GROUP",
        "NOT_COORDINATOR",
        "NOT_ENOUGH_REPLICAS",
        "NOT_LEADER_OR_FOLLOWER",
        "REQUEST_TIMED_OUT",
        "TOPIC_ALREADY_EXISTS",
        "UNKNOWN_TOPIC_OR_PARTITION",
    }
)
"""Brokers learn one after the other what was decided, topics are deleted later than that is answered, and
members that have died belong to their group for a while."""


class RefusedByClusterError(MockBrokerError):
    """The message has Kafka's error."""


class Asking:
    """Asks the cluster at `bootstrap`, each broker on a connection of its own. OSError, from calls, too."""

    def __init__(self, bootstrap: Address) -> None:
        self.target = Target([bootstrap])
        self._clients: dict[Address, Client] = {}

    def close(self) -> None:
        for each in self._clients.values():
            each.close()
        self.target.close()

    def create(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        """Creates a topic, and waits until it has leaders. RefusedByClusterError."""
        new = requests.new_topic(topic, partitions, _FACTOR, configs=config)

        def created() -> Any:
            return self._any("create_topics", requests.create_topics(new))["topics"][0]

        self._until_done(f"{topic} is created", created)
        self.target.refresh()
        wanted = range(partitions)
        self._until(lambda: all(self.target.leader(topic, each) is not None for each in wanted))

    def delete(self, *topics: str) -> None:
        """Deletes those that are there."""
        if topics:
            self._any("delete_topics", requests.delete_topics(*topics))
            self._until(lambda: not any(each in self.target.ids for each in topics))

    def topics(self) -> dict[str, int]:
        """How many partitions each topic has."""
        self.target.refresh()
        return self.target.partitions()

    def produce(self, topic: str, partition: int, value: bytes, key: bytes | None, acks: int) -> None:
        """Appends a record. RefusedByClusterError."""
        made = batch([Record(value, key, timestamp=time.time_ns() // 1_000_000)])
        records = [{"index": partition, "records": made}]
        fields = {
            "acks": acks,
            "timeout": round(PATIENCE_S * 1000),
            "topic_data": [{"name": topic, "partition_data": records}],
        }

        def produced() -> Any:
            answer = self._of_leader(topic, partition, "produce", fields)
            return answer["responses"][0]["partition_responses"][0]

        self._until_done(f"a record is written to {topic}-{partition}", produced)

    def delete_records(self, topic: str, partition: int, before: int | None) -> int:
        """Deletes records below an offset, or all, and returns where the log begins then.
        RefusedByClusterError."""
        fields = requests.delete_records(topic, -1 if before is None else before, partition)

        def deleted() -> Any:
            answer = self._of_leader(topic, partition, "delete_records", fields)
            return answer["topics"][0]["partitions"][0]

        low: int = self._until_done(f"records of {topic}-{partition} are deleted", deleted)["low_watermark"]
        return low

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """The log start offset and the high watermark. NotThereError, RefusedByClusterError."""
        return self._offset(topic, partition, _EARLIEST), self._offset(topic, partition, _LATEST)

    def _offset(self, topic: str, partition: int, timestamp: int) -> int:
        wanted = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": timestamp}
        fields = {"replica_id": -1, "topics": [{"name": topic, "partitions": [wanted]}]}

        def told() -> Any:
            answer = self._of_leader(topic, partition, "list_offsets", fields)
            return answer["topics"][0]["partitions"][0]

        offset: int = self._until_done(f"{topic}-{partition} is there", told)["offset"]
        return offset

    def batches(self, topic: str, partition: int, offset: int) -> Iterator[bytearray]:
        """The batches up to the high watermark, the first of which has the `offset` in it, or a later one."""
        end = self._offset(topic, partition, _LATEST)
        while offset < end:
            data = self._fetched(topic, partition, offset)
            at = 0
            while size := record_batch.next_batch(memoryview(data)[at:]):
                found = data[at : at + size]
                header = record_batch.parse_header(found)
                at, offset = at + size, header.base_offset + header.last_offset_delta + 1
                yield found
            if not at:
                return

    def _fetched(self, topic: str, partition: int, offset: int) -> bytearray:
        wanted = {
            "partition": partition,
            "current_leader_epoch": -1,
            "fetch_offset": offset,
            "last_fetched_epoch": -1,
            "log_start_offset": -1,
            "partition_max_bytes": _FETCH_BYTES,
        }
        fields = {
            "replica_id": -1,
            "min_bytes": 1,
            "max_wait": 500,
            "max_bytes": _FETCH_BYTES,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [{"topic": topic, "partitions": [wanted]}],
        }

        def fetched() -> Any:
            return self._of_leader(topic, partition, "fetch", fields)["responses"][0]["partitions"][0]

        return bytearray(self._until_done(f"{topic}-{partition} is read", fetched)["records"] or b"")

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """What a group has committed."""
        fields = {"group_id": group, "topics": None, "require_stable": False}

        def told() -> Any:
            return self._of_coordinator(group, "offset_fetch", fields)

        answer = self._until_done(f"offsets of {group} are told", told)
        return {
            (topic["name"], each["partition_index"]): each["committed_offset"]
            for topic in answer["topics"]
            for each in topic["partitions"]
            if each["committed_offset"] >= 0
        }

    def groups(self) -> list[str]:
        """Every group of the cluster."""
        found: list[str] = []
        for address in self.target.brokers.values():
            found += [each["group_id"] for each in self._ask(address, "list_groups", {})["groups"]]
        return found

    def delete_groups(self, groups: Sequence[str]) -> list[str]:
        """Deletes groups, each once its members' sessions are over; returns why some could not be deleted."""

        def deleted(group: str) -> Any:
            return self._of_coordinator(group, "delete_groups", {"groups_names": [group]})["results"][0]

        left = []
        for group in groups:
            try:
                self._until_done(f"the group {group} is deleted", partial(deleted, group))
            except RefusedByClusterError as error:
                left.append(str(error))
        return left

    # -- brokers

    def _leader(self, topic: str, partition: int) -> Address | None:
        self.target.refresh()
        return self.target.leader(topic, partition)

    def _of_leader(self, topic: str, partition: int, api: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        address = self.target.leader(topic, partition) or self._leader(topic, partition)
        if address is None:
            raise NotThereError(f"no leader of {topic}-{partition}")
        return self._ask(address, api, fields)

    def _of_coordinator(self, group: str, api: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        address = self.target.group(group)
        if address is None:
            raise NotThereError(f"no coordinator of the group {group}")
        return self._ask(address, api, fields)

    def _any(self, api: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return self._ask(self.target.bootstrap, api, fields)

    def _ask(self, address: Address, api: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        client = self._clients.get(address)
        if client is None:
            client = self._clients[address] = Client(*address, "mockbroker-upstream", timeout=2 * PATIENCE_S)
        return client.call(api, min(_MOST[api], self.target.versions[api][1]), fields)

    def _until_done(self, what: str, ask: Callable[[], Any]) -> Any:
        """Asks again while the error passes, and returns the answer without one. RefusedByClusterError."""
        end = time.monotonic() + PATIENCE_S
        while (error := str((answer := ask())["error_code"])) != _OK:
            if error not in _PASSING or time.monotonic() > end:
                raise RefusedByClusterError(f"{error} in place of: {what}")
            time.sleep(_AGAIN_S)
            self.target.refresh()
        return answer

    def _until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition() and time.monotonic() < end:
            time.sleep(_AGAIN_S)
            self.target.refresh()
