"""What happens in the last epoch that a client gets, 32766, and in the one after it."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from mockbroker.rig import batches, requests
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stage import Stage
from mockbroker.rig.stories import Setting, Steps, Told, named

TX: Final = "tx"
LAST_OF_CLIENTS: Final = 32766
_BEYOND: Final = LAST_OF_CLIENTS + 1
_TOPIC: Final = "orders"
_TIMEOUT_MS: Final = 2_000
_LONG_MS: Final = 60_000
_REST_S: Final = 4
"""Enough for a transaction to time out, and for what follows."""


class Producer(NamedTuple):
    id: int
    epoch: int


@runtime_checkable
class Exhaustible(Protocol):
    """Brokers that need no request for each epoch."""

    def exhaust(self, transactional_id: str) -> None:
        """The epoch of its producer is the one before the last of clients."""


class LastEpochStage(Stage):
    def begin(self) -> None:
        self._numbers: dict[int, int] = {}
        self.ask("create_topics", requests.create_topics(requests.new_topic(_TOPIC, 1)))
        key = {"key": TX, "key_type": 1, "coordinator_keys": [TX]}
        self.brokers.until(lambda: self._found(self.ask("find_coordinator", key)), "the coordinator")

    @staticmethod
    def _found(answer: Any) -> bool:
        return bool((answer.get("coordinators") or [answer])[0]["error_code"] == "NONE")

    def _init(self, timeout_ms: int) -> Any:
        """The first answer that is not passing."""
        asked = {"transactional_id": TX, "transaction_timeout": timeout_ms}
        asked |= {"producer_id": -1, "producer_epoch": -1}
        found: Any = None

        def settled() -> bool:
            nonlocal found
            found = self.ask("init_producer_id", asked, version=4)
            return found["error_code"] not in ("CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS")

        self.brokers.until(settled, "an answer to InitProducerId")
        return found

    def exhausted(self) -> Producer:
        """A producer in the last epoch of clients, whose transactions time out soon."""
        answer = self._init(_LONG_MS)
        if isinstance(self.brokers, Exhaustible):
            self.brokers.exhaust(TX)
        while answer["producer_epoch"] < LAST_OF_CLIENTS:
            answer = self._init(_TIMEOUT_MS)
        self._number(answer["producer_id"])
        return Producer(answer["producer_id"], answer["producer_epoch"])

    def new_instance(self) -> Any:
        return self.told(self._init(_TIMEOUT_MS))

    def begins(self, producer: Producer) -> Any:
        """The errors of AddPartitionsToTxn and of a batch."""
        whose = {"transactional_id": TX, "producer_id": producer.id, "producer_epoch": producer.epoch}
        whose |= {"topics": [{"name": _TOPIC, "partitions": [0]}]}
        added = self.ask(
            "add_partitions_to_txn", {f"v3_and_below_{key}": each for key, each in whose.items()}, version=3
        )
        (part,) = added["results_by_topic_v3_and_below"][0]["results_by_partition"]
        data = batches.batch(
            [batches.Record(timestamp=self.brokers.now_ms())],
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            sequence=0,
            attributes=batches.TRANSACTIONAL,
        )
        topics = [{"name": _TOPIC, "partition_data": [{"index": 0, "records": data}]}]
        asked = {"transactional_id": TX, "acks": -1, "timeout": 1000, "topic_data": topics}
        written = self.ask("produce", asked, version=9)["responses"][0]["partition_responses"][0]
        return part["partition_error_code"], written["error_code"]

    def ends(self, producer: Producer, *, committed: bool) -> tuple[Any, Producer]:
        """The answer, and the producer that goes on: if none is given, the same one in the next epoch. As
        clients of KIP-890's second part do where brokers have it."""
        asked = {"transactional_id": TX, "producer_id": producer.id, "producer_epoch": producer.epoch}
        answer = self.ask("end_txn", {**asked, "committed": committed})
        given = Producer(answer.get("producer_id", -1), answer.get("producer_epoch", -1))
        return self.told(answer), given if given.id >= 0 else Producer(producer.id, _BEYOND)

    def told(self, answer: Any) -> Any:
        """Error, producer and epoch."""
        given = answer.get("producer_id", -1)
        return answer["error_code"], self._number(given), answer.get("producer_epoch", -1)

    def _number(self, producer_id: int) -> int:
        return -1 if producer_id < 0 else self._numbers.setdefault(producer_id, len(self._numbers))

    def later(self) -> Any:
        """Once the transaction may have timed out: its state and producer, the epochs that the partition
        knows, where its records are stable, and where they end."""
        self.brokers.sleep(_REST_S)
        (found,) = self.ask("list_transactions", {})["transaction_states"]
        topics = [{"name": _TOPIC, "partition_indexes": [0]}]
        (topic,) = self.ask("describe_producers", {"topics": topics})["topics"]
        known = [
            (self._number(each["producer_id"]), each["producer_epoch"], each["current_txn_start_offset"])
            for each in topic["partitions"][0]["active_producers"]
        ]
        state = found["transaction_state"], self._number(found["producer_id"])
        return *state, sorted(known), self._offset(isolation=1), self._offset(isolation=0)

    def _offset(self, isolation: int) -> int:
        part = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
        topics = [{"name": _TOPIC, "partitions": [part]}]
        asked = {"replica_id": -1, "isolation_level": isolation, "topics": topics}
        answer = self.ask("list_offsets", asked, version=7)
        return int(answer["topics"][0]["partitions"][0]["offset"])


def _beyond(s: LastEpochStage) -> Generator[tuple[str, Any], None, Producer]:
    """A transaction in the last epoch of clients times out, its producer aborts late, and goes on."""
    first = s.exhausted()
    yield "begins", s.begins(first)
    yield "timed out", s.later()
    answer, producer = s.ends(first, committed=False)
    yield "aborts", answer
    yield "goes on", s.begins(producer)
    return producer


def times_out(s: LastEpochStage) -> Steps:
    """A transaction in the last epoch of clients times out, its producer goes on, and again it does."""
    producer = yield from _beyond(s)
    yield "timed out again", s.later()
    answer, producer = s.ends(producer, committed=False)
    yield "aborts again", answer
    yield "later", s.later()
    yield "a new instance", s.new_instance()
    yield "later", s.later()


def is_fenced(s: LastEpochStage) -> Steps:
    """The same by a new instance instead of the timeout."""
    first = s.exhausted()
    yield "begins", s.begins(first)
    yield "a new instance", s.new_instance()
    yield "later", s.later()
    answer, _ = s.ends(first, committed=False)
    yield "the old one aborts", answer


def fenced_beyond(s: LastEpochStage) -> Steps:
    """A producer goes on in epoch 32767, and a new instance comes, again and again."""
    yield from _beyond(s)
    yield "a new instance", s.new_instance()
    yield "later", s.later()
    yield "another one", s.new_instance()
    yield "later", s.later()


def commits_beyond(s: LastEpochStage) -> Steps:
    """A producer goes on in epoch 32767 and commits."""
    producer = yield from _beyond(s)
    answer, _ = s.ends(producer, committed=True)
    yield "commits", answer
    yield "later", s.later()
    yield "a new instance", s.new_instance()


STORIES: Final = Told(
    Path(__file__).parent,
    named(times_out, is_fenced, fenced_beyond, commits_beyond),
    LastEpochStage,
    Setting(1, {**BROKER_CONFIG, "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}),
    alone=True,
)
