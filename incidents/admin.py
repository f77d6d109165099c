"""What an operator does to a cluster and asks of it, by plain requests. Every call blocks."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mockbroker.errors import MockBrokerError
from mockbroker.rig import requests
from mockbroker.rig.client import Client

LATEST: Final = -1
EARLIEST: Final = -2
_TIMEOUT_MS: Final = 30_000
_SALT: Final = b"the salt of a user"
_ITERATIONS: Final = 4096


class AdminError(MockBrokerError, RuntimeError):
    """The cluster refused what was asked, or no broker answers."""


@dataclass(frozen=True, slots=True)
class State:
    """What a broker knows of a partition; `leader` is -1 if there is none."""

    leader: int
    epoch: int
    in_sync: tuple[int, ...]


class Admin:
    """`ports` are those of the brokers, by node id."""

    def __init__(self, ports: Mapping[int, int]) -> None:
        self._ports = ports

    def ask(self, node: int, api: str, version: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of one broker. OSError."""
        with Client("127.0.0.1", self._ports[node], "admin", timeout=10) as client:
            return client.call(api, version, fields)

    def _any(self, api: str, version: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        failed: OSError | None = None
        for node in self._ports:
            try:
                return self.ask(node, api, version, fields)
            except OSError as error:
                failed = error
        raise AdminError(f"no broker answers {api}: {failed}")

    def _controller(self, api: str, version: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """With KRaft any broker passes it on."""
        found = self._any("metadata", 7, requests.metadata())
        return self.ask(found["controller_id"], api, version, fields)

    def create(
        self, topic: str, partitions: int = 1, *, replicas: Sequence[int] | None = None, **config: str
    ) -> None:
        """`replicas` are those of each partition. Underscores in names of settings stand for dots."""
        placed = [replicas] * partitions if replicas else None
        made = requests.new_topic(topic, partitions, len(self._ports), placed, requests.dotted(config))
        _check(self._controller("create_topics", 5, requests.create_topics(made))["topics"])

    def add_partitions(self, topic: str, count: int) -> None:
        """So that it has `count`."""
        fields = {"topics": [{"name": topic, "count": count, "assignments": None}], "timeout": _TIMEOUT_MS}
        _check(self._controller("create_partitions", 1, fields)["results"])

    def reassign(self, topic: str, replicas: Mapping[int, Sequence[int]]) -> None:
        """By partition."""
        parts = [{"partition_index": index, "replicas": list(each)} for index, each in replicas.items()]
        fields = {"timeout": _TIMEOUT_MS, "topics": [{"name": topic, "partitions": parts}]}
        answer = self._controller("alter_partition_reassignments", 0, fields)
        _check([answer, *answer["responses"][0]["partitions"]])

    def raise_features(self) -> dict[str, int]:
        """Sets every feature to the newest level that a broker supports; these levels."""
        asked = {"client_software_name": "admin", "client_software_version": "1"}
        known = self._any("api_versions", 3, asked)
        now = {each["name"]: each["max_version_level"] for each in known["finalized_features"]}
        newest = {each["name"]: each["max_version"] for each in known["supported_features"]}
        raised = {name: level for name, level in newest.items() if level > now.get(name, 0)}
        updates = [
            {"feature": name, "max_version_level": level, "upgrade_type": 1, "allow_downgrade": False}
            for name, level in raised.items()
        ]
        answer = self._controller("update_features", 1, {"timeout": _TIMEOUT_MS, "feature_updates": updates})
        _check([answer, *answer["results"]])
        return raised

    def limit_producers(self, client_id: str, bytes_a_second: int) -> None:
        self._limit(client_id, "producer_byte_rate", bytes_a_second)

    def limit_consumers(self, client_id: str, bytes_a_second: int) -> None:
        self._limit(client_id, "consumer_byte_rate", bytes_a_second)

    def _limit(self, client_id: str, key: str, bytes_a_second: int) -> None:
        entity = [{"entity_type": "client-id", "entity_name": client_id}]
        rate = {"key": key, "value": float(bytes_a_second), "remove": False}
        fields = {"entries": [{"entity": entity, "ops": [rate]}], "validate_only": False}
        _check(self._any("alter_client_quotas", 0, fields)["entries"])

    def delete(self, topic: str) -> None:
        _check(self._controller("delete_topics", 4, requests.delete_topics(topic))["responses"])

    def alter(self, topic: str, **config: str) -> None:
        fields = requests.configure(requests.TOPIC, topic, requests.dotted(config))
        _check(self._any("incremental_alter_configs", 1, fields)["responses"])

    def set_password(self, user: str, password: str) -> None:
        """For SCRAM-SHA-512."""
        salted = hashlib.pbkdf2_hmac("sha512", password.encode(), _SALT, _ITERATIONS)
        one = {
            "name": user,
            "mechanism": 2,
            "iterations": _ITERATIONS,
            "salt": _SALT,
            "salted_password": salted,
        }
        asked = {"deletions": [], "upsertions": [one]}
        _check(self._any("alter_user_scram_credentials", 0, asked)["results"])

    def configure_group(self, group: str, **config: str) -> None:
        fields = requests.configure(requests.GROUP, group, requests.dotted(config))
        _check(self._any("incremental_alter_configs", 1, fields)["responses"])

    def delete_records(self, topic: str, partition: int, offset: int) -> None:
        """All below `offset`."""
        fields = requests.delete_records(topic, offset, partition)
        answer = self.ask(self.state(topic, partition).leader, "delete_records", 2, fields)
        _check(answer["topics"][0]["partitions"])

    def elect_preferred(self, topic: str, *partitions: int) -> None:
        wanted = [{"topic": topic, "partitions": list(partitions)}]
        answer = self._controller(
            "elect_leaders", 2, {"election_type": 0, "topic_partitions": wanted, "timeout": _TIMEOUT_MS}
        )
        _check(answer["replica_election_results"][0]["partition_result"], "ELECTION_NOT_NEEDED")

    def states(self, topic: str, node: int | None = None) -> dict[int, State]:
        """By partition, as `node` knows them; none if the topic is not known."""
        asked = requests.metadata(topic)
        answer = self._any("metadata", 7, asked) if node is None else self.ask(node, "metadata", 7, asked)
        return {
            each["partition_index"]: State(
                each["leader_id"], each["leader_epoch"], tuple(sorted(each["isr_nodes"]))
            )
            for each in answer["topics"][0]["partitions"]
        }

    def state(self, topic: str, partition: int = 0) -> State:
        return self.states(topic).get(partition, State(-1, -1, ()))

    def offset(
        self,
        topic: str,
        partition: int = 0,
        timestamp: int = LATEST,
        *,
        committed: bool = False,
        node: int | None = None,
    ) -> int:
        """The high watermark, or with `committed` the last stable offset; with EARLIEST the log start. Asks
        `node`, else the leader. AdminError, also while there is no leader.
        """
        place = {"name": topic, "partitions": [{"partition_index": partition, "timestamp": timestamp}]}
        asked = {"replica_id": -1, "isolation_level": int(committed), "topics": [place]}
        leader = self.state(topic, partition).leader if node is None else node
        if leader < 0:
            raise AdminError(f"{topic}-{partition} has no leader")
        found = self.ask(leader, "list_offsets", 5, asked)["topics"][0]["partitions"]
        _check(found)
        return int(found[0]["offset"])

    def ready(self, *topics: str) -> bool:
        """Whether all replicas of some topics are in sync."""
        every = [self.states(topic) for topic in topics]
        return all(
            each
            and all(state.leader > 0 and len(state.in_sync) == len(self._ports) for state in each.values())
            for each in every
        )


def holds(condition: Callable[[], bool]) -> bool:
    """False also while the cluster can't answer."""
    try:
        return condition()
    except (OSError, AdminError):
        return False


def _check(results: Sequence[Mapping[str, Any]], *fine: str) -> None:
    for each in results:
        if each["error_code"] not in ("NONE", *fine):
            raise AdminError(f"{each['error_code']}: {each.get('error_message') or dict(each)}")
