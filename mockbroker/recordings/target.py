"""The cluster that a recording is played to: where its leaders and coordinators are, and what it supports."""

import contextlib
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from ..addresses import joined
from ..errors import MockBrokerError
from ..rig.client import Client, DisconnectedError

Address = tuple[str, int]
_SIZE: Final = struct.Struct(">i")
_OK: Final = "NONE"
_PATIENCE_S: Final = 20.0
_GROUP, _TRANSACTION = 0, 1
_METADATA, _COORDINATOR, _CREATE = 12, 3, 5
"""The newest versions in which this asks."""


class TargetError(MockBrokerError, OSError):
    """The cluster can't be asked."""

    def __str__(self) -> str:
        return str(self.args[0])


class Link:
    """A connection to a broker, on which frames are read in their order."""

    def __init__(self, address: Address) -> None:
        self._socket = socket.create_connection(address, 10)

    def send(self, frame: bytes) -> None:
        self._socket.sendall(_SIZE.pack(len(frame)) + frame)

    def answer(self, correlation_id: int, seconds: float) -> bytes:
        """The answer with this id; those before it are dropped. OSError, TimeoutError."""
        self._socket.settimeout(seconds)
        while True:
            frame = self._read(_SIZE.unpack(self._read(_SIZE.size))[0])
            if frame[:4] == _SIZE.pack(correlation_id):
                return frame

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise ConnectionResetError("the connection was closed")
            data += piece
        return bytes(data)

    def close(self) -> None:
        self._socket.close()


class Target:
    """The cluster of the first of these brokers that answers. TargetError if none does."""

    def __init__(self, brokers: Sequence[Address]) -> None:
        whys = []
        for self.bootstrap in brokers:
            self._client = Client(*self.bootstrap, "mockbroker-replay", timeout=_PATIENCE_S)
            try:
                self.versions: Mapping[str, tuple[int, int]] = self._client.api_versions()
                self._read()
                break
            except (OSError, ValueError, DisconnectedError) as error:
                self._client.close()
                whys.append(f"{joined(*self.bootstrap)} does not answer as a Kafka broker: {error}")
        else:
            raise TargetError("; ".join(whys))
        self._coordinators: dict[tuple[int, str], Address] = {}

    def close(self) -> None:
        self._client.close()

    def refresh(self) -> None:
        """Forgets where coordinators and leaders were."""
        self._coordinators.clear()
        with contextlib.suppress(OSError, ValueError):
            self._read()

    def broker(self, node: int | None) -> Address:
        """The broker with this id; that which was named to us if there is none."""
        return self.brokers.get(-1 if node is None else node, self.bootstrap)

    def leader(self, topic: str | UUID, partition: int) -> Address | None:
        """Where the leader is; `topic` is its name, or its id."""
        name = topic if isinstance(topic, str) else self.name(topic)
        found = self._leaders.get((name, partition))
        return None if found is None else self.brokers.get(found)

    def partitions(self) -> dict[str, int]:
        """How many partitions each topic has."""
        counts = dict.fromkeys(self.ids, 0)
        for topic, _ in self._leaders:
            counts[topic] += 1
        return counts

    def name(self, topic_id: UUID) -> str:
        """The topic's name; empty if there is none with this id."""
        return self._names.get(topic_id, "")

    def group(self, group: str) -> Address | None:
        """Where the coordinator of a group is."""
        return self._coordinator(_GROUP, group)

    def transaction(self, transactional_id: str) -> Address | None:
        """Where its coordinator is."""
        return self._coordinator(_TRANSACTION, transactional_id)

    def _coordinator(self, kind: int, key: str) -> Address | None:
        until = time.monotonic() + _PATIENCE_S
        while (kind, key) not in self._coordinators and time.monotonic() < until:
            answer = self._ask("find_coordinator", _COORDINATOR, {"key": key, "key_type": kind})
            if answer["error_code"] == _OK:
                self._coordinators[(kind, key)] = (answer["host"], answer["port"])
            else:
                time.sleep(0.1)
        return self._coordinators.get((kind, key))

    def create(self, topics: Mapping[str, list[list[int]]]) -> dict[str, str]:
        """Creates those that are missing, with these replicas of each partition as far as such brokers exist.
        Gives the error of each."""
        wanted = []
        for name, partitions in topics.items():
            fits = all(set(each) <= self.brokers.keys() for each in partitions)
            wanted.append(
                {
                    "name": name,
                    "num_partitions": -1 if fits else len(partitions),
                    "replication_factor": -1 if fits else min(len(partitions[0]), len(self.brokers)),
                    "assignments": [
                        {"partition_index": index, "broker_ids": each}
                        for index, each in enumerate(partitions)
                    ]
                    if fits
                    else [],
                }
            )
        answer = self._ask("create_topics", _CREATE, {"topics": wanted, "timeout": 20_000})
        errors = {each["name"]: str(each["error_code"]) for each in answer["topics"]}
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            self._read()
            if all(self._led(name, len(topics[name])) for name, error in errors.items() if error == _OK):
                break
            time.sleep(0.1)
        return errors

    def _led(self, topic: str, partitions: int) -> bool:
        return all(self._leaders.get((topic, each), -1) >= 0 for each in range(partitions))

    def _read(self) -> None:
        answer = self._ask("metadata", _METADATA, {"topics": None})
        self.brokers = {each["node_id"]: (each["host"], each["port"]) for each in answer["brokers"]}
        self.cluster_id: str | None = answer.get("cluster_id")
        self.ids = {each["name"]: each.get("topic_id") for each in answer["topics"]}
        self._names: dict[UUID | None, str] = {topic_id: name for name, topic_id in self.ids.items()}
        self._leaders = {
            (topic["name"], each["partition_index"]): each["leader_id"]
            for topic in answer["topics"]
            for each in topic["partitions"]
        }

    def _ask(self, api: str, most: int, fields: dict[str, Any]) -> dict[str, Any]:
        lowest, highest = self.versions[api]
        version = min(highest, most)
        if version < lowest:
            raise TargetError(f"the cluster supports {api} in versions {lowest} to {highest} only")
        return self._client.call(api, version, fields)
