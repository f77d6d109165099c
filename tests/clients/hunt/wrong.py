"""Clients that are wrong on purpose: confluent-kafka's driver with one thing in it that it must not do.

`python wrong.py NAME`; `right` is wrong in nothing, and neither is `lacking`, which can't assign or seek, and
tells neither positions nor assignments, nor `joins-late`, which refuses the first subscription of each user,
nor `tells-before`, whose callback says of a record that its word has failed, before a commit of others.
MOCKBROKER_PROGRAMS has the folder of the Python drivers.
"""

import hashlib
import os
import sys
import time
from threading import Thread
from typing import Any

sys.path.insert(0, os.environ["MOCKBROKER_PROGRAMS"])
import confluent_kafka
from confluent import ConfluentAdmin, ConfluentConsumer, ConfluentProducer, ConfluentShare, described
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from lines import ADMIN, ASSIGNOR, CODEC, Call, Fields, Lines, serve, taking

WRONG = sys.argv[1]


def spin() -> None:
    """Beside the others, who go on: it holds no lock of theirs."""
    while True:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000)


class Producer(ConfluentProducer):
    """Each third record is treated wrongly."""

    count = aborts = 0
    asked_to_commit = 0
    disconnected = False
    refused: KafkaException | None = None
    held: tuple[Any, ...] | None = None

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        names = ("bootstrap.servers", "client.id", "transactional.id")
        self.same = {each: fields["config"][each] for each in names if each in fields["config"]}
        super().__init__(name, lines, fields)

    def produce(self, call: Call, topic: str, partition: int | None, **content: Any) -> None:
        self.count += 1
        third, tell, fail = self.count % 3 == 0, call.answer, call.fail
        if WRONG == "loses" and third:
            tell({"partition": partition, "offset": 1_000})
            return
        if WRONG == "forgets-headers":
            content.pop("headers", None)
        if WRONG == "drops" and third:
            fail(KafkaException(KafkaError(KafkaError._MSG_TIMED_OUT)))
            return
        if WRONG == "never-tells" and third:
            return
        if WRONG == "repeats" and third:
            self.producer.produce(topic, **content, partition=partition)
        if WRONG == "gives-up" and self.refused is not None:
            fail(self.refused)
            return
        if WRONG == "swaps" and third:
            self.held = call, topic, partition, content
            return
        if WRONG == "refuses" and third:
            call.answer = lambda _=None: fail(KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)))
        if WRONG == "gives-up":

            def failed(error: Any, raised: bool = False) -> None:
                self.refused = error
                fail(error, raised)

            call.fail = failed
        if WRONG == "fenced-silently":
            call.fail = lambda *_, **__: call.answer({"partition": partition, "offset": 1_000})
        if WRONG == "tells-twice" and third:
            call.answer = lambda _=None: (tell(_), fail(KafkaException(KafkaError(KafkaError._FAIL))))
        super().produce(call, topic, partition, **content)
        self.send_held()

    def _told(self, error: KafkaError) -> None:
        self.disconnected = True
        super()._told(error)

    def send_held(self) -> None:
        if self.held is not None:
            (call, topic, partition, content), self.held = self.held, None
            self.producer.flush(10)
            super().produce(call, topic, partition, **content)

    def flush(self, timeout_ms: int) -> Fields:
        self.send_held()
        if WRONG == "hangs":
            time.sleep(600)
        if WRONG == "dawdles" and self.disconnected:
            time.sleep(4)
        while WRONG == "spins":
            pass
        if WRONG == "never-rests":
            Thread(target=spin, daemon=True).start()
        if WRONG == "dies":
            os.abort()
        return super().flush(timeout_ms)

    def send_offsets(self, offsets: list[list[Any]], consumer: str, timeout_ms: int) -> None:
        if WRONG != "forgets-offsets":
            super().send_offsets(offsets, consumer, timeout_ms)

    def begin(self) -> None:
        if WRONG == "fences-itself":
            confluent_kafka.Producer(self.same).init_transactions(10)
        if WRONG == "fails-to-begin" and self.aborts:
            raise KafkaException(KafkaError(KafkaError._STATE))
        try:
            super().begin()
        except KafkaException:
            if WRONG not in ("fenced-silently", "begins-twice"):
                raise

    def commit_transaction(self, timeout_ms: int) -> None:
        if WRONG.startswith("fails-to") and not self.aborts:
            raise KafkaException(KafkaError(KafkaError._FAIL, "wrong", False, False, True))
        if WRONG == "fails-needlessly":
            Producer.asked_to_commit += 1
            if Producer.asked_to_commit % 4 == 1:
                raise KafkaException(KafkaError(KafkaError._STATE))
        if WRONG == "fails-to-commit":
            raise KafkaException(KafkaError(KafkaError._STATE))
        try:
            super().commit_transaction(timeout_ms)
        except KafkaException:
            if WRONG != "fenced-silently":
                raise

    def abort_transaction(self, timeout_ms: int) -> None:
        if WRONG == "commits-always":
            self.producer.commit_transaction(timeout_ms / 1000)
            return
        if WRONG == "fails-to-abort":
            raise KafkaException(KafkaError(KafkaError._STATE))
        try:
            super().abort_transaction(timeout_ms)
        except KafkaException:
            if WRONG != "aborts-what-is-committed":
                raise
        self.aborts += 1

    def close(self, timeout_ms: int) -> None:
        self.send_held()
        super().close(timeout_ms)


class Consumer(ConfluentConsumer):
    count = commits = 0

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        if WRONG == "reads-all":
            fields["config"]["isolation.level"] = "read_uncommitted"
        if WRONG == "forgets-its-rack":
            fields["config"].pop("client.rack", None)
        self.late = WRONG == "joins-late" and name.endswith("-1")
        super().__init__(name, lines, fields)
        self.there: dict[str, int] = {}
        if WRONG.startswith("misses"):
            known = self.consumer.list_topics(timeout=10).topics
            self.there = {topic: len(each.partitions) for topic, each in known.items()}

    def _misses(self, topic: str, partition: int) -> bool:
        """Whether it was not there when the consumer was made."""
        if WRONG == "misses-topics":
            return topic not in self.there
        return WRONG == "misses-partitions" and partition >= self.there[topic]

    def _refuse_if_late(self) -> None:
        if self.late:
            raise KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))

    def assign(self, partitions: list[list[Any]]) -> None:
        self._refuse_if_late()
        super().assign(partitions)

    def subscribe(self, topics: list[str]) -> None:
        self._refuse_if_late()
        if WRONG not in ("begins-again", "begins-at-the-end"):
            super().subscribe(topics)
            return

        def assigned(_: Any, given: list[TopicPartition]) -> None:
            self.event("assigned", partitions=[[each.topic, each.partition] for each in given])
            at = 0 if WRONG == "begins-again" else -1  # OFFSET_END
            self.consumer.assign([TopicPartition(each.topic, each.partition, at) for each in given])

        def revoked(_: Any, given: list[TopicPartition]) -> None:
            self.event("revoked", partitions=[[each.topic, each.partition] for each in given])

        self.consumer.subscribe(topics, on_assign=assigned, on_revoke=revoked)

    def commit(self, offsets: list[list[Any]] | None = None, timeout_ms: int = 0) -> None:
        self.commits += 1
        if WRONG != "commits-nothing" or self.commits % 2:
            super().commit(offsets, timeout_ms)

    def pause(self, partitions: list[list[Any]]) -> None:
        if WRONG != "reads-paused":
            super().pause(partitions)

    def seek(self, topic: str, partition: int, offset: int | None = None, to: str = "") -> None:
        if WRONG != "ignores-seeks":
            super().seek(topic, partition, offset, to)

    def offsets_for_times(self, partitions: list[list[Any]], timeout_ms: int) -> Fields:
        found = super().offsets_for_times(partitions, timeout_ms)
        if WRONG == "tells-late-times":
            return {"offsets": [[*at, (offset or 0) + 1] for *at, offset in found["offsets"]]}
        return found

    def event(self, event: str, **fields: Any) -> None:
        if WRONG != "lacking":
            super().event(event, **fields)

    def poll(self, timeout_ms: int) -> Fields:
        if WRONG == "stops-reading" and self.count > 2:
            time.sleep(timeout_ms / 1000)
            return {"records": []}
        found = super().poll(timeout_ms)
        records = found["records"]
        if WRONG == "leaves-out":
            found["records"] = [each for n, each in enumerate(records, self.count) if n % 3 != 1]
        if WRONG == "goes-back":
            found["records"] = records + records[-1:]
        if WRONG.startswith("misses"):
            found["records"] = [e for e in records if not self._misses(e["topic"], e["partition"])]
        if WRONG == "forgets-keys":
            found["records"] = [{**each, "key": None} for each in records]
        self.count += len(records)
        return found


class Share(ConfluentShare):
    """Each third record is treated wrongly."""

    count = 0

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        self.explicit = fields["config"]["share.acknowledgement.mode"] == "explicit"
        self.released: set[Any] = set()
        self.failed: set[Any] = set()
        super().__init__(name, lines, fields)

    def event(self, event: str, **fields: Any) -> None:
        if self.failed and event == "acknowledged" and "error" not in fields:
            fields["offsets"] = [self._not_failed(*each) for each in fields["offsets"]]
        if WRONG != "never-tells" or event != "acknowledged":
            super().event(event, **fields)

    def _not_failed(self, topic: str, partition: int, offsets: list[int]) -> list[Any]:
        told = [each for each in offsets if (topic, partition, each) not in self.failed]
        self.failed.difference_update((topic, partition, each) for each in offsets)
        return [topic, partition, told]

    def poll(self, timeout_ms: int) -> Fields:
        if WRONG == "stops-reading" and self.count > 2:
            time.sleep(timeout_ms / 1000)
            return {"records": []}
        found = super().poll(timeout_ms)
        records = found["records"]
        self.count += len(records)
        if WRONG == "goes-back":
            found["records"] = records + records[-1:]
        if WRONG == "miscounts":
            found["records"] = [{**each, "delivery_count": each["delivery_count"] + 1} for each in records]
        if WRONG == "leaves-out":
            found["records"] = [each for each in records if each["offset"] % 3]
            for each in records:
                if not each["offset"] % 3 and self.explicit:
                    super().acknowledge(each["topic"], each["partition"], each["offset"], **{"as": "accept"})
        return found

    def acknowledge(self, topic: str, partition: int, offset: int, **said: str) -> None:
        if WRONG == "accepts-all":
            said["as"] = "accept"
        if WRONG == "releases-accepted" and said["as"] == "accept" and self._first(topic, partition, offset):
            said["as"] = "release"
        if WRONG == "releases-rejected" and said["as"] == "reject":
            said["as"] = "release"
        if WRONG == "tells-before" and offset % 3 == 0 and self._first(topic, partition, offset):
            said["as"] = "release"
            error = described(KafkaException(KafkaError(KafkaError._FAIL)))
            self.event("acknowledged", offsets=[[topic, partition, [offset]]], error=error)
            self.failed.add((topic, partition, offset))
        super().acknowledge(topic, partition, offset, **said)

    def _first(self, *at: Any) -> bool:
        """Whether it is the first time that this is asked."""
        first = at not in self.released
        self.released.add(at)
        return first

    def commit(self, timeout_ms: int) -> Fields:
        if WRONG == "hangs":
            time.sleep(600)
        results = super().commit(timeout_ms)
        if WRONG == "tells-otherwise":
            error = described(KafkaException(KafkaError(KafkaError._FAIL)))
            return {"results": [[*at, error] for *at, _ in results["results"]]}
        return results


class Admin(ConfluentAdmin):
    def create_partitions(self, topic: str, partitions: int, timeout_ms: int) -> None:
        if WRONG != "adds-nothing":
            super().create_partitions(topic, partitions, timeout_ms)

    def delete_topic(self, topic: str, timeout_ms: int) -> None:
        if WRONG != "deletes-nothing":
            super().delete_topic(topic, timeout_ms)

    def list_offsets(self, topic: str, partition: int, at: str, timeout_ms: int) -> Fields:
        found = super().list_offsets(topic, partition, at, timeout_ms)
        return {"offset": found["offset"] + 1_000} if WRONG == "lists-late-offsets" else found


if WRONG == "lacking":
    for verb in ("assign", "seek", "position", "offsets_for_times"):
        setattr(Consumer, verb, None)


if __name__ == "__main__":
    serve(
        f"librdkafka {WRONG}",
        [
            *(() if WRONG == "lacking" else ("assign", "deserializer", "consumer-protocol", "pause")),
            *(() if WRONG == "lacking" else ("headers", "null-headers", "seek", "offsets-for-times")),
            *taking(CODEC, ("gzip", "snappy", "lz4", "zstd")),
            *taking(ASSIGNOR, ("range", "roundrobin", "cooperative-sticky")),
            *(
                ()
                if WRONG == "lacking"
                else (
                    "share",
                    "at-once",
                    "ends-at-once",
                    "commit-at-once",
                    "admin",
                    "create-partitions",
                    *ADMIN,
                )
            ),
            *("groups", "patterns", "resubscribe", "transactions", "send-offsets", "idempotence"),
        ],
        {"producer": Producer, "consumer": Consumer, "share-consumer": Share, "admin": Admin},
        described,
    )
