"""A broker, real or ours, whose `__consumer_offsets` (one partition) is read while groups are used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final
from uuid import UUID

from mockbroker.protocol.record_batch import CONTROL, parse_header, records
from mockbroker.rig import stage
from mockbroker.rig.brokers import Brokers
from mockbroker.rig.stories import Steps

from ...driving.offsets_structs import COMMIT, GROUP, KEY

TOPIC: Final = "__consumer_offsets"
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NEAR_MS: Final = 250
_REST_S: Final = 0.6
"""In which whatever is on its way comes, and longer than what counts as now."""
_MARKERS: Final = {b"\0\0\0\0": "abort", b"\0\0\0\1": "commit"}
_COMMIT_KEYS: Final = (0, 1)
_GROUP_KEY: Final = 2


class OffsetsTopicStage(stage.Stage):
    """A story's broker, with the requests that it needs."""

    highest: ClassVar = {"fetch": 12, "metadata": 8}
    """Up to here topics have names."""
    client_id = "a"

    def __init__(self, brokers: Brokers, name: str) -> None:
        super().__init__(brokers, name)
        self._names: dict[str, str] = {}
        self._at = 0

    # -- what is written

    def begin(self) -> None:
        """Reads from the end of what is there."""

        def coordinated() -> bool:
            asked = {"key": "any", "key_type": 0, "coordinator_keys": ["any"]}
            found = self.ask("find_coordinator", asked)
            answers = found.get("coordinators") or [found]
            return bool(answers[0]["error_code"] == "NONE") and self._loaded()

        self.brokers.until(coordinated, "the coordinator")
        self.brokers.sleep(_REST_S)
        self._read()

    def _loaded(self) -> bool:
        asked = {"group_id": "any", "topics": None, "groups": [{"group_id": "any", "topics": None}]}
        found = self.ask("offset_fetch", asked)
        return bool((found.get("groups") or [found])[0]["error_code"] == "NONE")

    def written(self, count: int = 1) -> Any:
        """The batches since the last call, once there are `count` of them."""
        found: list[bytes] = []

        def enough() -> bool:
            found.extend(self._read())
            return len(found) >= count

        self.brokers.until(enough, f"{count} batches in {TOPIC}")
        self.brokers.sleep(_REST_S)
        return [self.described(batch) for batch in (*found, *self._read())]

    def then(self, label: str, answer: Any, count: int = 1) -> Steps:
        """An answer, and what was written meanwhile, once there are `count` batches of it."""
        yield label, answer
        yield "written", self.written(count)

    def _read(self) -> list[bytes]:
        part = {
            "partition": 0,
            "current_leader_epoch": -1,
            "fetch_offset": self._at,
            "last_fetched_epoch": -1,
            "log_start_offset": -1,
            "partition_max_bytes": 1 << 24,
        }
        fields = {
            "replica_id": -1,
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": 1 << 24,
            "isolation_level": 0,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [{"topic": TOPIC, "partitions": [part]}],
        }
        answer = self.ask("fetch", fields, by="reader")
        (found,) = answer["responses"][0]["partitions"]
        assert found["error_code"] == "NONE", answer
        data = found["records"] or b""
        batches = []
        while data:
            header = parse_header(data)
            size = header.length + 12
            batches.append(data[:size])
            self._at = header.base_offset + header.last_offset_delta + 1
            data = data[size:]
        return batches

    # -- as told

    def described(self, batch: bytes) -> Any:
        """A batch in words, with its records by key: some releases have them in the order of a hash table.
        Times near that of their record are "now"; expiry is counted from the commit; what is random has a
        number.
        """
        header = parse_header(batch)
        found: dict[str, Any] = {"attributes": header.attributes}
        producer = (
            header.producer_id if header.producer_id < 0 else self.numbered("producer", header.producer_id)
        )
        found["producer"] = [producer, header.producer_epoch, header.base_sequence]
        held = list(records(batch))
        assert len({each.timestamp for each in held}) == 1, "one time for a batch"
        if header.attributes & CONTROL:
            (marker,) = held
            found["marker"] = _MARKERS[marker.key or b""]
        else:
            told = [self._record(each.timestamp, each.key or b"", each.value) for each in held]
            found["records"] = sorted(told, key=lambda each: str(each["key"]))
        return found

    def _record(self, timestamp: int, key: bytes, value: bytes | None) -> Any:
        version = int.from_bytes(key[:2], "big", signed=True)
        if version not in (*_COMMIT_KEYS, _GROUP_KEY):
            return {"key": version, "size": None if value is None else len(value)}
        read = KEY.parse(key)
        layout = GROUP if version == _GROUP_KEY else COMMIT
        told = None if value is None else _plain(layout.parse(value))
        told = told and {"version": told["version"], **told["content"]}
        for field in ("commit_ms", "state_ms"):
            if told and field in told:
                if told.get("expire_ms", -1) >= 0:
                    told["expire_ms"] -= told[field]
                told[field] = "now" if abs(told[field] - timestamp) < _NEAR_MS else "before"
        if told and "topic_id" in told:
            told["topic_id"] = self.numbered("topic", UUID(bytes=told["topic_id"]))
        return self.shown(
            {"key": [version, *(v for k, v in read.content.items() if k != "_io")], "value": told}
        )

    def shown(self, value: Any) -> Any:
        """With numbers for what is random."""
        if isinstance(value, Mapping):
            return {key: self.shown(each) for key, each in value.items() if key != "throttle_time"}
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            found = [self.shown(each) for each in value]
            return sorted(found, key=str) if found and _is_member(found[0]) else found
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if isinstance(value, str):
            return _UUID.sub(lambda match: self.numbered("", match[0]), str(value))
        return value

    def numbered(self, kind: str, value: object) -> str:
        if value == UUID(int=0):
            return "none"
        return self._names.setdefault(f"{kind}{value}", f"{kind}#{len(self._names) + 1}")


def _is_member(value: Any) -> bool:
    """Members are in the order of a hash table."""
    return isinstance(value, Mapping) and "member_id" in value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if key != "_io"}
    return [_plain(each) for each in value] if isinstance(value, list) else value
