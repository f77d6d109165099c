"""A week in which nothing goes wrong, in the time of the cluster: producers, transactions, members that come
and go, retention, and every night a rolling restart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.week.stage import WeekCluster
from mockbroker.rig.batches import TRANSACTIONAL
from mockbroker.trace.files import JsonLines
from tests.driving.groups import subscription

HOUR_MS = 3600 * 1000
BEATS = 4
"""In an hour: less than a session lasts."""
SESSION_MS = 1_800_000
TOPIC = "orders"
PARTITIONS = 3


class Producer:
    """An idempotent producer, or with `name` a transactional one."""

    def __init__(self, stage: WeekCluster, name: str | None = None) -> None:
        self._stage, self._name = stage, name
        at = 1 if name is None else self._coordinator()
        given = stage.ask(at, "init_producer_id", 4, transactional_id=name, transaction_timeout=60_000)
        self._own = {key: given[key] for key in ("producer_id", "producer_epoch")}
        self._next: Counter[int] = Counter()

    def _coordinator(self) -> int:
        assert self._name is not None
        return self._stage.cluster.transaction_partition(self._name).leader

    def write(self, partition: int) -> None:
        attributes = 0 if self._name is None else TRANSACTIONAL
        data = self._stage.batch(sequence=self._next[partition], attributes=attributes, **self._own)
        answer = self._stage.write(TOPIC, partition, data, self._name)
        assert answer["error_code"] == "NONE", answer
        self._next[partition] += 2

    def transaction(self, *partitions: int) -> None:
        own = {"transactional_id": self._name, **self._own}
        topics = [{"name": TOPIC, "partitions": list(partitions)}]
        fields = {f"v3_and_below_{key}": value for key, value in {**own, "topics": topics}.items()}
        self._stage.ask(self._coordinator(), "add_partitions_to_txn", 3, **fields)
        for partition in partitions:
            self.write(partition)
        ended = self._stage.ask(self._coordinator(), "end_txn", 3, committed=True, **own)
        assert ended["error_code"] == "NONE", ended


class Group:
    """With one member at a time, which reads all partitions and commits what it has read."""

    def __init__(self, stage: WeekCluster, name: str) -> None:
        self._stage, self._name = stage, name
        self._member = ""
        self._generation = -1
        self.at: Counter[int] = Counter()

    def _ask(self, api: str, version: int, **fields: Any) -> dict[str, Any]:
        leader = self._stage.cluster.offsets_partition(self._name).leader
        answer = self._stage.ask(leader, api, version, group_id=self._name, **fields)
        assert answer.get("error_code", "NONE") in ("NONE", "MEMBER_ID_REQUIRED"), answer
        return answer

    def join(self) -> None:
        protocols = [{"name": "range", "metadata": subscription(TOPIC)}]
        join = {"session_timeout": SESSION_MS, "rebalance_timeout": 60_000, "protocol_type": "consumer"}
        join |= {"protocols": protocols}
        self._member = self._ask("join_group", 5, member_id="", **join)["member_id"]
        joined = self._ask("join_group", 5, member_id=self._member, **join)
        self._generation = joined["generation_id"]
        assignments = [{"member_id": self._member, "assignment": b"all"}]
        own = {"member_id": self._member, "generation_id": self._generation}
        self._ask("sync_group", 3, assignments=assignments, **own)
        asked = [{"name": TOPIC, "partition_indexes": list(range(PARTITIONS))}]
        for each in self._ask("offset_fetch", 5, topics=asked)["topics"][0]["partitions"]:
            assert each["committed_offset"] in (-1, self.at[each["partition_index"]])

    def beat(self) -> None:
        self._ask("heartbeat", 3, generation_id=self._generation, member_id=self._member)

    def read(self) -> None:
        for partition in range(PARTITIONS):
            place = {
                "partition": partition,
                "fetch_offset": self.at[partition],
                "partition_max_bytes": 1 << 20,
            }
            asked = {"max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20, "isolation_level": 1}
            reader = {"replica_id": -1, "session_epoch": -1}
            topics = [{"topic": TOPIC, "partitions": [place]}]
            leader = self._stage.leader(TOPIC, partition)
            answer = self._stage.ask(leader, "fetch", 11, **asked, **reader, topics=topics)
            (found,) = answer["responses"][0]["partitions"]
            assert found["error_code"] == "NONE", found
            self.at[partition] = found["last_stable_offset"]
        committed = [
            {"partition_index": partition, "committed_offset": offset, "committed_metadata": ""}
            for partition, offset in self.at.items()
        ]
        own = {"generation_id_or_member_epoch": self._generation, "member_id": self._member}
        self._ask("offset_commit", 7, topics=[{"name": TOPIC, "partitions": committed}], **own)

    def leave(self) -> None:
        self._ask("leave_group", 3, members=[{"member_id": self._member}])


def _restart(stage: WeekCluster, broker: int) -> None:
    stage.cluster.processes.stop(broker)
    stage.pass_ms(60_000)
    stage.cluster.processes.start(broker)
    stage.pass_ms(60_000)


def play(path: Path, days: int) -> None:
    """Writes the trace. Nothing is asked without its right answer."""
    stage = WeekCluster(traced=False)
    with path.open("w") as file:
        stage.trace.listeners.append(JsonLines(file))
        stage.trace.start()
        plain, transactional = Producer(stage), Producer(stage, "payments")
        groups = [Group(stage, "billing"), Group(stage, "reports")]
        for each in groups:
            each.join()
        for hour in range(24 * days):
            for _ in range(BEATS):
                stage.pass_ms(HOUR_MS // BEATS)
                for each in groups:
                    each.beat()
            for partition in range(PARTITIONS):
                plain.write(partition)
            transactional.transaction(hour % PARTITIONS)
            stage.pass_ms(1_000)
            for each in groups:
                each.read()
            if hour % 6 == 5:  # another release of the application
                groups[hour % 2].leave()
                groups[hour % 2].join()
            if hour % 24 == 3:
                for broker in list(stage.cluster.brokers):
                    _restart(stage, broker)
        stage.trace.changed()
