"""Requests of clients that are older than Kafka 0.11, and what is shown of records."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mockbroker.protocol import message_set, record_batch
from mockbroker.protocol.compression import decompress
from mockbroker.rig import requests
from mockbroker.rig.batches import OLD
from mockbroker.rig.client import DisconnectedError
from mockbroker.rig.stage import Stage

_DAY_MS: Final = 86_400_000
CONSUMER: Final = -1
_HEAD: Final = 61
_LEAST: Final = 17
_ZSTD_SINCE: Final = 7
_APPLIED_S: Final = 1.0
"""So soon a broker has learned of a topic's configuration."""


def shown_records(data: bytes | None) -> Any:
    """What was read: uncompressed batches and messages as they are, in hexadecimal, compressed ones with
    their content in place of it, and what is cut off at the end."""
    if data is None:
        return None
    found: list[Any] = []
    while data:
        size = struct.unpack_from(">i", data, 8)[0] + 12 if len(data) >= _LEAST else len(data) + 1
        if size > len(data):
            # Of a long rest only the head differs from zeros; what is compressed depends on the library.
            compressed = len(data) > _LEAST and data[16] < 2 and data[17] & 7
            found.append({"cut": len(data), "begins": data[: 8 if compressed else 24].hex()})
            break
        found.append(_shown(data[:size]))
        data = data[size:]
    return found


def _shown(data: bytes) -> Any:
    if data[16] == 2:
        return _shown_batch(data)
    message = message_set.read_message(data)
    assert message_set.crc_matches(data, message)
    if not message.codec:
        return data.hex()
    frame = (message.value or b"")[:7].hex() if message.codec == 3 else ""
    plain = bytes(message_set.wrapped(message)).hex()
    return {
        "offset": message.offset,
        "magic": message.magic,
        "attributes": message.attributes,
        "timestamp": _time(message.timestamp),
        "key": None if message.key is None else message.key.hex(),
        "frame": frame,
        "content": plain,
    }


def _shown_batch(data: bytes) -> Any:
    """Without the leader epoch, which depends on the broker's past, and the CRC."""
    header = record_batch.parse_header(data)
    assert record_batch.crc_matches(memoryview(bytearray(data)), header)
    content = bytes(decompress(header.attributes & 7, data[_HEAD:])).hex()
    times = [_time(header.base_timestamp), _time(header.max_timestamp)]
    return [
        header.base_offset,
        header.attributes,
        header.last_offset_delta,
        *times,
        *header[9:],
        content,
    ]


def _time(ms: int) -> int | str:
    return ms if ms < OLD + _DAY_MS else "<now>"


class OldStage(Stage):
    """One broker; every topic has one partition."""

    @property
    def knows_zstd(self) -> bool:
        return self.newest("produce") >= _ZSTD_SINCE

    def create(self, name: str, **configs: str) -> None:
        asked = requests.create_topics(requests.new_topic(name, configs=requests.dotted(configs)))
        answer = self.ask("create_topics", asked, version=2)
        assert answer["topics"][0]["error_code"] == "NONE", answer
        self.brokers.until(lambda: self.end(name) == 0, f"{name} to be there")

    def end(self, name: str) -> int:
        """Its log end offset, -1 if there is none."""
        one = self.listed(name, -1)
        return int(one["offset"]) if one["error_code"] == "NONE" else -1

    def listed(self, name: str, timestamp: int) -> Any:
        part = {"partition_index": 0, "timestamp": timestamp}
        fields = {"replica_id": -1, "topics": [{"name": name, "partitions": [part]}]}
        return only(self.ask("list_offsets", fields, version=1), "topics", "partitions")

    def set_formats(self, name: str, release: str) -> None:
        """Records of the topic are kept as in that release from then on."""
        config = {"name": "message.format.version", "value": release}
        resource = {"resource_type": requests.TOPIC, "resource_name": name, "configs": [config]}
        answer = self.ask("alter_configs", {"resources": [resource], "validate_only": False}, version=0)
        assert only(answer, "responses")["error_code"] == "NONE", answer
        self.brokers.sleep(_APPLIED_S)

    def epoch(self, name: str, epoch: int) -> Any:
        """The answer of OffsetForLeaderEpoch."""
        fields = {"topics": [{"topic": name, "partitions": [{"partition": 0, "leader_epoch": epoch}]}]}
        version = self.newest("offset_for_leader_epoch", 1)
        return only(self.ask("offset_for_leader_epoch", fields, version=version), "topics", "partitions")

    def size(self, name: str) -> int | None:
        """Of its log in bytes; None if brokers don't say it."""
        if self.newest("describe_log_dirs") < 0:
            return None
        asked = [{"topic": name, "partitions": [0]}]
        answer = self.ask("describe_log_dirs", {"topics": asked}, version=0)
        (size,) = (
            each["partitions"][0]["partition_size"]
            for folder in answer["results"]
            for each in folder["topics"]
            if each["name"] == name
        )
        return int(size)

    def segments(self, name: str) -> Any:
        """Where they begin, and the end of the log."""
        part = {"partition_index": 0, "timestamp": -1, "max_num_offsets": 99}
        fields = {"replica_id": -1, "topics": [{"name": name, "partitions": [part]}]}
        return only(self.ask("list_offsets", fields, version=0), "topics", "partitions")["old_style_offsets"]

    def produce(
        self,
        version: int,
        name: str,
        records: bytes | None,
        acks: int = -1,
        index: int = 0,
        transactional_id: str | None = None,
    ) -> Any:
        """The answer for its partition."""
        fields = {
            "transactional_id": transactional_id,
            "acks": acks,
            "timeout": 5000,
            "topic_data": [{"name": name, "partition_data": [{"index": index, "records": records}]}],
        }
        try:
            answer = self.ask("produce", fields, version=version)
        except DisconnectedError:
            return "closed"
        (one,) = answer["responses"][0]["partition_responses"]
        if one.get("log_append_time", -1) != -1:
            one["log_append_time"] = _time(one["log_append_time"])
        return one

    def fetch(self, version: int, name: str, offset: int = 0, **more: int) -> Any:
        """The answer for its partition."""
        one = self._fetched(version, name, offset, more)
        return {
            "error": one["error_code"],
            "high_watermark": one["high_watermark"],
            "records": shown_records(one["records"]),
        }

    def data(self, name: str) -> bytes:
        """The bytes of its log."""
        data: bytes = self._fetched(4, name, 0, {})["records"]
        return data

    def _fetched(self, version: int, name: str, offset: int, more: Mapping[str, int]) -> Any:
        part = {
            "partition": 0,
            "fetch_offset": offset,
            "partition_max_bytes": more.get("partition_max_bytes", 1 << 20),
        }
        fields = {
            "replica_id": more.get("replica_id", CONSUMER),
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": more.get("max_bytes", 1 << 20),
            "topics": [{"topic": name, "partitions": [part]}],
        }
        return only(self.ask("fetch", fields, version=version), "responses", "partitions")

    def mark(self, name: str, number: int) -> None:
        """Writes the marker of a transaction that has no records."""
        marker = {
            "producer_id": 100 + number,
            "producer_epoch": 0,
            "transaction_result": True,
            "topics": [{"name": name, "partition_indexes": [0]}],
            "coordinator_epoch": 0,
        }
        answer = self.ask("write_txn_markers", {"markers": [marker]}, version=0)
        assert only(answer, "markers", "topics", "partitions")["error_code"] == "NONE", answer

    def until_coordinated(self, group: str) -> None:
        """Waits until the group has a coordinator."""
        fields = {"group_id": group, "topics": []}
        wanted = {"key": group}
        self.ask("find_coordinator", wanted, version=0)
        self.brokers.until(
            lambda: self.ask("offset_fetch", fields, version=2)["error_code"] == "NONE", "the coordinator"
        )

    def kept(self, name: str) -> Any:
        """What its log has."""
        return self.fetch(4, name)["records"]


def only(answer: Mapping[str, Any], *way: str) -> Any:
    """The only entry of each list on the way."""
    found: Any = answer
    for each in way:
        entries: Sequence[Any] = found[each]
        (found,) = entries
    return found
