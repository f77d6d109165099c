"""A transactional producer, as questions about transactions need it."""

from typing import Any, Final

from . import batches
from .scene import Scene

TIMEOUT_MS: Final = 60_000
_BEFORE_BUMPS = 4
_BEFORE_ADDING_BY_WRITING = 11
_BEFORE_BROKERS = 3


class TransactionalProducer:
    """A transactional producer of one transactional id, by default without KIP-890's second part.

    What it asks of the API under question goes out in the version under question.
    """

    def __init__(self, s: Scene, base: str = "tx", *, starts: bool = True) -> None:
        self.s = s
        self.name = s.name(base)
        self.id = self.epoch = -1
        s.until(self._coordinated, "the coordinator")
        if starts:
            self.start()

    def _coordinated(self) -> bool:
        fields = {"key": self.name, "key_type": 1, "coordinator_keys": [self.name]}
        answer = self.s.call("find_coordinator", fields)
        found = answer["coordinators"][0] if "coordinators" in answer else answer
        return bool(found["error_code"] == "NONE" and self._listed()["error_code"] == "NONE")

    def start(self) -> None:
        """Gets a producer id, or the next epoch."""
        answer = self.s.until(self._started, f"a producer id for {self.name}")
        self.id, self.epoch = answer["producer_id"], answer["producer_epoch"]
        self.s.normaliser.name_producer(self.id)

    def _started(self) -> Any:
        fields = {"transactional_id": self.name, "transaction_timeout": TIMEOUT_MS}
        answer = self.s.call("init_producer_id", {**fields, "producer_id": -1, "producer_epoch": -1})
        return answer if answer["error_code"] == "NONE" else None

    @property
    def ids(self) -> dict[str, Any]:
        return {"transactional_id": self.name, "producer_id": self.id, "producer_epoch": self.epoch}

    def add(self, topic: str, *partitions: int) -> None:
        """Adds partitions as a client does."""
        ids = {f"v3_and_below_{key}": value for key, value in self.ids.items()}
        topics = [{"name": topic, "partitions": list(partitions) or [0]}]
        answer = self.s.call(
            "add_partitions_to_txn", {**ids, "v3_and_below_topics": topics}, version=_BEFORE_BROKERS
        )
        assert answer["results_by_topic_v3_and_below"][0]["results_by_partition"][0][
            "partition_error_code"
        ] == ("NONE"), answer

    def batch(
        self, sequence: int = 0, count: int = 3, *, epoch: int | None = None, inside: bool = True
    ) -> bytes:
        """With the present time, which markers have too: after an old timestamp they would roll a segment."""
        return batches.batch(
            [batches.Record(timestamp=int(self.s.now_s() * 1000))] * count,
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            sequence=sequence,
            attributes=batches.TRANSACTIONAL if inside else 0,
        )

    def write(self, topic: str, sequence: int = 0, count: int = 3) -> None:
        """Appends a batch in the transaction to partition 0."""
        part = {"index": 0, "records": self.batch(sequence, count)}
        fields = {
            "transactional_id": self.name,
            "acks": -1,
            "timeout": 10000,
            "topic_data": [{**self.s.topic_ref(topic), "partition_data": [part]}],
        }
        answer = self.s.call("produce", fields, version=_BEFORE_ADDING_BY_WRITING)
        (result,) = answer["responses"][0]["partition_responses"]
        assert result["error_code"] == "NONE", result

    def begin(self, topic: str, sequence: int = 0) -> None:
        """A transaction with three records."""
        self.add(topic)
        self.write(topic, sequence)

    def end(self, *, committed: bool) -> None:
        """Ends it and waits for the markers."""
        answer = self.s.call("end_txn", {**self.ids, "committed": committed}, version=_BEFORE_BUMPS)
        assert answer["error_code"] == "NONE", answer
        self.settle()

    def _listed(self) -> Any:
        return self.s.call("list_transactions", {"transactional_id_pattern": None})

    def state(self) -> str:
        """Not by DescribeTransactions, since kio reads no start time of -1."""
        (found,) = [
            each for each in self._listed()["transaction_states"] if each["transactional_id"] == self.name
        ]
        return str(found["transaction_state"])

    def describe(self) -> dict[str, Any]:
        """What DescribeTransactions says of a transaction that began."""
        answer = self.s.call("describe_transactions", {"transactional_ids": [self.name]})
        found: dict[str, Any] = answer["transaction_states"][0]
        return found

    def settle(self) -> str:
        """Waits until no markers are under way; the state then."""
        return self.s.until(self._settled, "the end of a transaction")

    def _settled(self) -> str | None:
        state = self.state()
        return None if state.startswith("Prepare") else state
