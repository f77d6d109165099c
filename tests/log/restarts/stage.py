"""Where a story is told: one broker that can be started again, and what is asked of it."""

from typing import Any, ClassVar, Final

from mockbroker.rig import batches, requests, stage
from mockbroker.rig.brokers import Brokers

KILLED: Final = "kill/"
STOPPED: Final = "stop/"
MINUTE_MS: Final = 60_000
_AGE_MS: Final = 600 * MINUTE_MS
"""Records are so old, and markers are of now: each marker has a segment of its own behind older records."""
_SESSION_S: Final = 6
"""As long as the session of a killed broker lasts it can't register again with ZooKeeper."""
_EARLIEST: Final = -2
_LATEST: Final = -1


class RestartStage(stage.Stage):
    """A story's topic of one partition, on a broker that ends as the story's name begins: it is killed or
    stopped."""

    highest: ClassVar = {
        "produce": 8,
        "fetch": 11,
        "list_offsets": 5,
        "delete_records": 1,
        "describe_producers": 0,
        "write_txn_markers": 1,
        "create_topics": 5,
        "metadata": 8,
        "incremental_alter_configs": 1,
    }

    def __init__(self, brokers: Brokers, name: str) -> None:
        super().__init__(brokers, name)
        self.topic = name.replace("/", "-")
        self._began_ms = brokers.now_ms() - _AGE_MS

    def again(self) -> None:
        """Ends the broker, whose checkpoints are those of now, and starts it again."""
        (broker,) = self.online
        self.brokers.checkpoint(broker)
        if self.name.startswith(KILLED):
            self.kill(broker)
            self.brokers.sleep(_SESSION_S)
        else:
            self.stop(broker)
        self.start(broker)
        self.led()

    def create(self, **configs: str) -> None:
        """A segment is full after a minute of record time."""
        made = requests.new_topic(self.topic, configs={"segment.ms": str(MINUTE_MS), **configs})
        answer = self.ask("create_topics", requests.create_topics(made))["topics"][0]
        assert answer["error_code"] == "NONE", answer
        self.led()

    def led(self) -> None:
        """Waits until the partition has its leader, and the broker tells of it."""
        self.brokers.until(
            lambda: self.offsets()[0] >= 0 and self._described()["error_code"] == "NONE",
            f"the leader of {self.topic}",
        )

    # -- what is written

    def write(
        self,
        producer_id: int,
        sequence: int,
        *,
        minute: float,
        count: int = 1,
        epoch: int = 0,
        transactional: bool = False,
    ) -> Any:
        """A batch: error, base offset and log append time."""
        record = batches.Record(timestamp=self._began_ms + int(minute * MINUTE_MS), key=b"k")
        data = batches.batch(
            [record] * count,
            producer_id=producer_id,
            producer_epoch=epoch,
            sequence=sequence,
            attributes=batches.TRANSACTIONAL if transactional else 0,
        )
        parts = [{"index": 0, "records": data}]
        fields = {
            "transactional_id": f"transactional-{producer_id}" if transactional else None,
            "acks": -1,
            "timeout": 10_000,
            "topic_data": [{"name": self.topic, "partition_data": parts}],
        }
        answer = self.ask("produce", fields)["responses"][0]["partition_responses"][0]
        return [answer["error_code"], answer["base_offset"], self._minute(answer["log_append_time"])]

    def end(self, producer_id: int, *, committed: bool, epoch: int = 0) -> Any:
        """Ends a transaction with a marker."""
        marker = {
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "transaction_result": committed,
            "topics": [{"name": self.topic, "partition_indexes": [0]}],
            "coordinator_epoch": 3,
        }
        (answer,) = self.ask("write_txn_markers", {"markers": [marker]})["markers"]
        return answer["topics"][0]["partitions"][0]["error_code"]

    def delete_below(self, offset: int) -> None:
        """DeleteRecords."""
        fields = requests.delete_records(self.topic, offset)
        (answer,) = self.ask("delete_records", fields)["topics"][0]["partitions"]
        assert answer["error_code"] == "NONE", answer

    def retain(self, bytes_: int, start: int) -> None:
        """Waits until the log begins at `start`, since it may have no more than so many bytes."""
        change = {"retention.bytes": str(bytes_)}
        self.ask("incremental_alter_configs", requests.configure(requests.TOPIC, self.topic, change))
        self.brokers.until(lambda: self.offsets()[0] == start, f"{self.topic} to begin at {start}")

    # -- what is known

    def offsets(self) -> list[int]:
        """Log start offset, last stable offset, high watermark; negative while there is no leader."""
        found = []
        for timestamp, isolation in ((_EARLIEST, 0), (_LATEST, 1), (_LATEST, 0)):
            parts = [{"partition_index": 0, "timestamp": timestamp, "current_leader_epoch": -1}]
            topics = [{"name": self.topic, "partitions": parts}]
            fields = {"replica_id": -1, "isolation_level": isolation, "topics": topics}
            (answer,) = self.ask("list_offsets", fields)["topics"][0]["partitions"]
            found.append(answer["offset"])
        return found

    def aborted(self, offset: int) -> Any:
        """Aborted transactions that a reader from `offset` on is told of."""
        part = {
            "partition": 0,
            "current_leader_epoch": -1,
            "fetch_offset": offset,
            "log_start_offset": -1,
            "partition_max_bytes": 1_000_000,
        }
        fields = {
            "replica_id": -1,
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": 1_000_000,
            "isolation_level": 1,
            "session_id": 0,
            "session_epoch": -1,
            "topics": [{"topic": self.topic, "partitions": [part]}],
            "forgotten_topics_data": [],
            "rack_id": "",
        }
        (answer,) = self.ask("fetch", fields)["responses"][0]["partitions"]
        return [[each["producer_id"], each["first_offset"]] for each in answer["aborted_transactions"] or ()]

    def known(self) -> Any:
        """DescribeProducers, by producer id: epoch, last sequence, time, coordinator epoch, and first
        offset of its transaction."""
        answer = self._described()
        assert answer["error_code"] == "NONE", answer
        return {
            str(each["producer_id"]): [
                each["producer_epoch"],
                each["last_sequence"],
                self._minute(each["last_timestamp"]),
                each["coordinator_epoch"],
                each["current_txn_start_offset"],
            ]
            for each in sorted(answer["active_producers"], key=lambda each: int(each["producer_id"]))
        }

    def _described(self) -> Any:
        asked = {"topics": [{"name": self.topic, "partition_indexes": [0]}]}
        (answer,) = self.ask("describe_producers", asked)["topics"][0]["partitions"]
        return answer

    def _minute(self, time_ms: int) -> Any:
        """That of the story, "now" for the present, "none" for no time."""
        if time_ms < 0:
            return "none"
        minute = (time_ms - self._began_ms) / MINUTE_MS
        return minute if minute < 100 else "now"
