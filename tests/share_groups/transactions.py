"""Records of transactions in share groups: `share.isolation.level`."""

from typing import Any

from mockbroker.rig import batches
from mockbroker.rig.stories import Steps

from .stage import ACCEPT, Ack, ShareStage, acquired, outcome


class _Producer:
    """A transactional producer."""

    def __init__(self, s: ShareStage) -> None:
        self.s, self.name, self.sequence = s, s.named("tx"), 0
        asked = {"transactional_id": self.name, "transaction_timeout": 60_000}
        asked |= {"producer_id": -1, "producer_epoch": -1}
        found: Any = None

        def begun() -> bool:
            nonlocal found
            found = s.ask("init_producer_id", asked, version=4)
            return bool(found["error_code"] == "NONE")

        s.brokers.until(begun, "a producer id")
        self.id, self.epoch = found["producer_id"], found["producer_epoch"]
        s.shown.name_producer(self.id)

    def write(self, count: int) -> None:
        ids = {"transactional_id": self.name, "producer_id": self.id, "producer_epoch": self.epoch}
        old = {f"v3_and_below_{name}": value for name, value in ids.items()}
        topics = [{"name": self.s.named("t"), "partitions": [0]}]

        def added() -> bool:
            answer = self.s.ask("add_partitions_to_txn", {**old, "v3_and_below_topics": topics}, version=3)
            (part,) = answer["results_by_topic_v3_and_below"][0]["results_by_partition"]
            return bool(part["partition_error_code"] == "NONE")

        self.s.brokers.until(added, "the partition in the transaction")
        data = batches.batch(
            _records(self.s, count),
            producer_id=self.id,
            producer_epoch=self.epoch,
            sequence=self.sequence,
            attributes=batches.TRANSACTIONAL,
        )
        self.s.produce(data, transactional_id=self.name)
        self.sequence += count

    def end(self, *, committed: bool) -> None:
        """Waits until markers are written: the next transaction begins only then."""
        ids = {"transactional_id": self.name, "producer_id": self.id, "producer_epoch": self.epoch}
        answer = self.s.ask("end_txn", {**ids, "committed": committed}, version=4)
        assert answer["error_code"] == "NONE", answer

        def settled() -> bool:
            found = self.s.ask("list_transactions", {})["transaction_states"]
            states = [each["transaction_state"] for each in found if each["transactional_id"] == self.name]
            return not any(each.startswith("Prepare") for each in states)

        self.s.brokers.until(settled, "the end of the transaction")


def _records(s: ShareStage, count: int) -> list[batches.Record]:
    """With the present time, which markers have too: after an old timestamp they would roll a segment, at
    whose end a fetch ends."""
    return [batches.Record(timestamp=s.brokers.now_ms())] * count


def _log(s: ShareStage) -> _Producer:
    """Plain 0-1, committed 2-4 with its marker 5, aborted 6-8 with its marker 9, plain 10-11, and open 12-13
    with plain 14."""
    s.topic()
    producer = _Producer(s)
    s.produce(batches.batch(_records(s, 2)))
    producer.write(3)
    producer.end(committed=True)
    producer.write(3)
    producer.end(committed=False)
    s.produce(batches.batch(_records(s, 2)))
    producer.write(2)
    s.produce(batches.batch(_records(s, 1)))
    return producer


def _read(s: ShareStage, level: str) -> Steps:
    producer = _log(s)
    one = s.reader(share_isolation_level=level)
    first = one.fetch()
    yield "acquired", acquired(first)
    yield (
        "batches",
        [
            [each["base_offset"], each["last_offset"], each["attributes"]]
            for each in first["responses"][0]["partitions"][0]["records"]
        ],
    )
    yield "state", s.state()
    yield "accepts a marker", outcome(one.acknowledge(Ack(5, 5, [ACCEPT])))
    yield "accepts the aborted", outcome(one.acknowledge(Ack(6, 8, [ACCEPT])))
    yield "accepts committed with its marker", outcome(one.acknowledge(Ack(2, 5, [ACCEPT])))
    yield "accepts committed", outcome(one.acknowledge(Ack(2, 4, [ACCEPT])))
    yield "state then", s.state()
    yield "accepts the first", outcome(one.acknowledge(Ack(0, 1, [ACCEPT])))
    yield "state, moved on", s.state()
    yield "offsets", s.offsets("g", "t")
    yield "nothing more", acquired(one.look())
    producer.end(committed=True)
    yield "after the commit", acquired(one.look())
    yield "state at last", s.state()


def uncommitted(s: ShareStage) -> Steps:
    """`read_uncommitted`."""
    return _read(s, "read_uncommitted")


def committed(s: ShareStage) -> Steps:
    """`read_committed`."""
    return _read(s, "read_committed")


def level_changes(s: ShareStage) -> Steps:
    """The level changes while a share partition is there."""
    _log(s)
    one = s.reader(share_isolation_level="read_committed")
    yield "committed", acquired(one.fetch())
    s.configure("g", share_isolation_level="read_uncommitted")
    yield "uncommitted", acquired(one.fetch())
    yield "state", s.state()
