"""EndTxn with an epoch above the current one, and what becomes of the transaction."""

from pathlib import Path
from typing import Any, Final

from mockbroker.rig import batches, requests
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stage import Stage
from mockbroker.rig.stories import Setting, Steps, Told, named

_TOPIC: Final = "orders"
_LONG_MS: Final = 60_000
_PASSING: Final = ("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR")
_REST_S: Final = 2
"""Enough for markers to be written."""


class LaterEpochStage(Stage):
    """A transactional id of its own for each part of a story."""

    def begin(self) -> None:
        self.ids: dict[str, tuple[int, int]] = {}
        self.ask("create_topics", requests.create_topics(requests.new_topic(_TOPIC, 1)), version=2)
        self.ask("find_coordinator", {"key": "tx", "key_type": 1}, version=1)

    def init(self, tx: str) -> Any:
        """The error, and the epoch."""
        found: Any = None

        def settled() -> bool:
            nonlocal found
            asked = {"transactional_id": tx, "transaction_timeout": _LONG_MS}
            found = self.ask("init_producer_id", asked, version=0)
            return found["error_code"] not in _PASSING

        self.brokers.until(settled, "an answer to InitProducerId")
        if found["error_code"] == "NONE":
            self.ids[tx] = found["producer_id"], found["producer_epoch"]
        return [found["error_code"], found["producer_epoch"]]

    def _whose(self, tx: str, later: int) -> dict[str, Any]:
        producer, epoch = self.ids[tx]
        return {"transactional_id": tx, "producer_id": producer, "producer_epoch": epoch + later}

    def add(self, tx: str, later: int = 0) -> Any:
        """The error of AddPartitionsToTxn."""
        whose = {**self._whose(tx, later), "topics": [{"name": _TOPIC, "partitions": [0]}]}
        whose = {f"v3_and_below_{key}": each for key, each in whose.items()}
        answer = self.ask("add_partitions_to_txn", whose, version=0)
        (topic,) = answer["results_by_topic_v3_and_below"]
        return topic["results_by_partition"][0]["partition_error_code"]

    def write(self, tx: str) -> Any:
        """The error of a batch."""
        producer, epoch = self.ids[tx]
        data = batches.batch(
            1, producer_id=producer, producer_epoch=epoch, sequence=0, attributes=batches.TRANSACTIONAL
        )
        part = {"index": 0, "records": data}
        fields = {
            "transactional_id": tx,
            "acks": -1,
            "timeout": 5000,
            "topic_data": [{"name": _TOPIC, "partition_data": [part]}],
        }
        answer = self.ask("produce", fields, version=3)
        return answer["responses"][0]["partition_responses"][0]["error_code"]

    def end(self, tx: str, later: int = 0, *, commit: bool = True) -> Any:
        """The error of EndTxn."""
        fields = {**self._whose(tx, later), "committed": commit}
        return self.ask("end_txn", fields, version=0)["error_code"]

    def ends(self) -> Any:
        """Last stable offset and log end, once brokers have come to rest."""
        self.brokers.sleep(_REST_S)
        return self._ends()

    def until_marked(self) -> None:
        """Until it has its markers, and there is anything."""

        def marked() -> bool:
            stable, end = self._ends()
            return 0 < stable == end

        self.brokers.until(marked, "the markers")

    def _ends(self) -> list[int]:
        found = []
        for isolation in (1, 0):
            part = {"partition_index": 0, "timestamp": -1}
            fields = {
                "replica_id": -1,
                "isolation_level": isolation,
                "topics": [{"name": _TOPIC, "partitions": [part]}],
            }
            answer = self.ask("list_offsets", fields, version=2)
            found.append(answer["topics"][0]["partitions"][0]["offset"])
        return found


def ongoing(s: LaterEpochStage) -> Steps:
    """Of a transaction with records."""
    for later in (-1, 1):
        for commit in (True, False):
            tx = f"tx{later}{commit}"
            label = f"{later:+d}, {'commit' if commit else 'abort'}"
            yield f"{label}: init", s.init(tx)
            yield f"{label}: init again", s.init(tx)
            yield f"{label}: add", s.add(tx)
            yield f"{label}: write", s.write(tx)
            yield f"{label}: end", s.end(tx, later, commit=commit)
            yield f"{label}: ends", s.ends()
            yield f"{label}: end again", s.end(tx, later, commit=commit)
            yield f"{label}: end the other way", s.end(tx, later, commit=not commit)
            yield f"{label}: end in the right epoch", s.end(tx, commit=commit)
            yield f"{label}: ends, afterwards", s.ends()
            yield f"{label}: add afterwards", s.add(tx)
            yield f"{label}: add afterwards, in that epoch", s.add(tx, later)
            yield f"{label}: new instance", s.init(tx)
            yield f"{label}: add, new", s.add(tx)
            yield f"{label}: end, new", s.end(tx)
            yield f"{label}: ends, new", s.ends()


def ended(s: LaterEpochStage) -> Steps:
    """Where no transaction is open."""
    for commit in (True, False):
        tx = f"tx{commit}"
        yield f"{commit}: init", s.init(tx)
        yield f"{commit}: end of nothing", s.end(tx, 1, commit=commit)
        yield f"{commit}: add", s.add(tx)
        yield f"{commit}: end", s.end(tx, commit=commit)
        yield f"{commit}: ends", s.ends()
        yield f"{commit}: end again", s.end(tx, 1, commit=commit)
        yield f"{commit}: end the other way", s.end(tx, 1, commit=not commit)
        yield f"{commit}: add later", s.add(tx, 1)
        yield f"{commit}: new instance", s.init(tx)


def restarted(s: LaterEpochStage) -> Steps:
    """What the next coordinator makes of it."""
    yield "init", s.init("tx")
    yield "add", s.add("tx")
    yield "write", s.write("tx")
    yield "end", s.end("tx", 1)
    yield "ends", s.ends()
    s.stop(1)
    s.start(1)
    s.until_marked()
    yield "ends, afterwards", s.ends()
    yield "new instance", s.init("tx")
    yield "add", s.add("tx")
    yield "end, in the right epoch", s.end("tx")
    yield "ends, at last", s.ends()


STORIES: Final = Told(
    folder=Path(__file__).parent,
    stories=named(ongoing, ended, restarted),
    stage=LaterEpochStage,
    setting=Setting(config=BROKER_CONFIG),
    alone=True,
)
