"""Spark's queries on Kafka, and in words what came of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

TOPIC: Final = "t"
SOON: Final = {
    "kafka.reconnect.backoff.ms": "20",
    "kafka.reconnect.backoff.max.ms": "50",
    "kafka.retry.backoff.ms": "20",
    "kafkaConsumer.pollTimeoutMs": "20000",
    "fetchOffset.retryIntervalMs": "20",
}
"""Makes Spark act soon; leaves out nothing that it does."""
CONNECTORS_OWN: Final = "org.apache.spark.sql.kafka010.KafkaIllegalStateException"
NOTHING: Final = "–"
DONE: Final = "done"


def words(values: Iterable[str]) -> str:
    return " ".join(values) or NOTHING


def reason(error: Exception) -> str:
    """What an exception is about: a condition of the connector, a class of Kafka, else what lies deepest."""
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    # As py4j raises it, or as Spark does where it has a class for it.
    cause: JavaObject = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    gateway = SparkContext._gateway
    name = type(error).__name__
    while cause is not None:
        name = cause.getClass().getSimpleName()
        if is_instance_of(gateway, cause, CONNECTORS_OWN):
            name = cause.getCondition()
            break
        if cause.getClass().getName().startswith("org.apache.kafka"):
            break
        cause = cause.getCause()
    return f"`{name}`"


class Stream:
    """A query that goes on until it fails or is stopped, and then goes on from its checkpoint.

    Its clients have `name` as their id.
    """

    def __init__(
        self, spark: SparkSession, folder: Path, bootstrap: str, name: str, options: Mapping[str, str]
    ) -> None:
        self._spark = spark
        self._checkpoint = str(folder / name)
        common = {"kafka.bootstrap.servers": bootstrap, "kafka.client.id": name, "subscribe": TOPIC}
        self._options = {**common, **SOON, **options}
        self._found: list[str] = []
        self._query: StreamingQuery | None = None
        self._error: Exception | None = None
        self.name = name

    def start_again(self) -> None:
        """Starts it if it does not run."""
        if self._query is None:
            self.start()

    def start(self) -> None:
        source = self._spark.readStream.format("kafka").option("startingOffsets", "earliest")
        rows = source.options(**self._options).load().selectExpr("CAST(value AS STRING)")
        writer = rows.writeStream.foreachBatch(self._keep).option("checkpointLocation", self._checkpoint)
        self._error = None
        self._query = writer.trigger(processingTime="0 seconds").start()

    def read(self) -> str:
        """The values of all there is and that were not read yet, or why the query failed."""
        from pyspark.errors import StreamingQueryException

        assert self._query is not None
        try:
            self._query.processAllAvailable()
        except StreamingQueryException as error:
            self._query = None
            return reason(self._error or error)
        found, self._found = self._found, []
        return words(found)

    def stop(self) -> None:
        if self._query is not None:
            self._query.stop()
            self._query = None

    def offsets(self) -> dict[str, dict[str, int]]:
        """Where the next batch begins, as the query tells: topics, partitions, offsets."""
        assert self._query is not None
        progress = self._query.lastProgress
        assert progress is not None
        offsets: dict[str, dict[str, int]] = json.loads(progress.sources[0].endOffset)
        return offsets

    def _keep(self, batch: DataFrame, _: int) -> None:
        try:
            self._found.extend(row.value for row in batch.collect())
        except Exception as error:  # Spark would pass on only its text
            self._error = error
            raise


class Table:
    """A topic as batch queries and streams write it."""

    def __init__(self, spark: SparkSession, bootstrap: str, topic: str) -> None:
        self._spark = spark
        self._bootstrap = {"kafka.bootstrap.servers": bootstrap}
        self._topic = topic

    def write(self, values: str, options: Mapping[str, str] = {}) -> str:
        """Each value to a partition of its own; returns the results."""
        numbered = [(value, partition) for partition, value in enumerate(values.split())]
        rows = self._spark.createDataFrame(numbered, "value STRING, partition INT").coalesce(1)
        return self._end(lambda: rows.write.format("kafka").options(**self._sink(options)).save())

    def write_stream(self, source: str, checkpoint: Path, options: Mapping[str, str] = {}) -> str:
        """What partition 0 of another topic has and was not written yet, by turns to two partitions."""
        read = {**self._bootstrap, **SOON, "subscribe": source, "startingOffsets": "earliest"}
        rows = self._spark.readStream.format("kafka").options(**read).load()
        chosen = rows.selectExpr("value", "CAST(offset % 2 AS INT) AS partition")
        writer = chosen.writeStream.format("kafka").options(**self._sink(options))
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        return self._end(query.awaitTermination)

    def read(self, options: Mapping[str, str] = {}) -> str:
        """The values of each partition, in a batch query; or why it failed."""
        given = {**self._bootstrap, **SOON, "subscribe": self._topic, **options}
        rows = self._spark.read.format("kafka").options(**given).load()
        found: dict[int, list[tuple[int, str]]] = {}

        def collect() -> None:
            for row in rows.selectExpr("partition", "offset", "CAST(value AS STRING)").collect():
                found.setdefault(row.partition, []).append((row.offset, row.value))

        outcome = self._end(collect)
        if outcome != DONE:
            return outcome
        return (
            ", ".join(words(value for _, value in sorted(found[each])) for each in sorted(found)) or NOTHING
        )

    def _sink(self, options: Mapping[str, str]) -> dict[str, str]:
        soon = {name: value for name, value in SOON.items() if name.startswith("kafka.")}
        return {**self._bootstrap, **soon, "topic": self._topic, **options}

    @staticmethod
    def _end(action: Callable[[], object]) -> str:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            action()
        except (Py4JJavaError, PySparkException) as error:
            return reason(error)
        return DONE
