"""`transactional-id-expired`, `hanging-transaction`, `producer-expired`: producers that brokers forgot, and
transactions that nobody ends.

An idempotent producer whose state the leader has deleted is taken for a new one: what it sends again is
appended again. A batch of a transaction that has ended already (KIP-890) begins one that the coordinator does
not know of, so that no marker comes.
"""

from typing import Final

from ..consequences import EVER_MS, LATE_MS, PARTITION, PRODUCER, SEQUENCES, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..reproduction import Reproduction, Template, forgotten_producer
from ..rows import INTERNAL, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import BATCHES, Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_MAPPING: Final = "INVALID_PRODUCER_ID_MAPPING"
_LEAST_MS: Final = 500
_USUAL_MS: Final = 60_000
"""The default of `transaction.timeout.ms`, after which a coordinator aborts."""
_LONGEST_MS: Final = 900_000
"""That of `transaction.max.timeout.ms`."""
_SEQUENCES: Final = 2**31
_UNTOLD: Final = -1
_COPIED: Final = (
    "no marker follows the batch; the coordinator knows of no transaction that is open, but its log may have "
    "been copied before the batch was written"
)
_SKEW_MS: Final = 1_000
"""The greatest difference between the clocks of brokers and clients."""


def find(observations: Table) -> Table:
    return (
        _expired(observations).unionByName(_hanging(observations)).unionByName(_written_twice(observations))
    )


def _expired(observations: Table) -> Table:
    """Only if a client used the id afterwards: that it expires is no finding."""
    refused = of_kinds(observations, "refused").where(F.col("error") == _MAPPING)
    refused = refused.where("transactional_id is not null or client is not null")
    refused = (
        refused.withColumn("shown", seen())
        .groupBy("transactional_id", "client")
        .agg(F.min_by("shown", "time_ms").alias("seen"), F.min("time_ms").alias("at_ms"))
        .persist()
    )
    forgotten = _forgotten(observations).persist()
    rows = _named(refused, forgotten)
    known = [*same("_", ["transactional_id"]), F.col("_ms") <= F.col("at_ms") + _SKEW_MS]
    deleted = prefixed(forgotten, "_", "transactional_id", "ms", "shown", "exact")
    rows = (
        rows.join(deleted, known, "left")
        .groupBy("transactional_id", "client", "seen", "at_ms", "guessed")
        .agg(
            F.max(F.when(F.col("_exact"), F.col("_ms"))).alias("deleted_ms"),
            F.max_by("_shown", F.when(F.col("_exact"), F.col("_ms"))).alias("deleted"),
        )
    )
    told = F.col("deleted").isNotNull()
    return findings(
        rows,
        signature="transactional-id-expired",
        **judged(
            If(
                told & ~F.col("guessed"),
                CERTAIN,
                "the coordinator deleted the id, and the client that went on to use it was refused",
            ),
            If(
                F.col("guessed"),
                LIKELY,
                "a client was refused that names no id, and this is the only one that the coordinator had "
                "forgotten by then",
            ),
            Else(
                LIKELY,
                "the coordinator knows of no such producer; a new one with the same id would fence it",
            ),
        ),
        summary=F.concat(
            F.when(
                F.col("transactional_id").isNotNull(),
                sentence(
                    "the producer of transactional id {transactional_id} was refused: its id had expired"
                ),
            ).otherwise(sentence("producer {client} was refused: its transactional id had expired")),
            only_if(told, " {ago} ms before", ago=F.col("at_ms") - F.col("deleted_ms")),
        ),
        evidence=[F.col("deleted"), F.col("seen")],
        ids=["KIP-98"],
    )


def _forgotten(observations: Table) -> Table:
    """The ids that their coordinator had forgotten: `exact` if its log has the tombstone, else it gave the id
    another producer id later."""
    deleted = (
        of_kinds(observations, "tombstone")
        .where("transactional_id is not null")
        .select(
            "transactional_id",
            F.col("time_ms").alias("ms"),
            seen().alias("shown"),
            F.lit(True).alias("exact"),
        )
    )
    begun = of_kinds(observations, "transaction").where(
        "detail = 'initialized' and transactional_id is not null and producer_epoch = 0"
    )
    begun = (
        begun.withColumn("shown", seen())
        .groupBy("transactional_id", "producer_id")
        .agg(F.min("time_ms").alias("ms"), F.min_by("shown", "time_ms").alias("shown"))
    )
    window = Window.partitionBy("transactional_id").orderBy("ms")
    again = begun.withColumn("first_ms", F.lag("ms").over(window)).where("first_ms is not null")
    again = again.select(
        "transactional_id", F.col("first_ms").alias("ms"), "shown", F.lit(False).alias("exact")
    )
    return deleted.unionByName(again)


def _named(refused: Table, forgotten: Table) -> Table:
    """`guessed`: librdkafka's log names the client only; the id is that of the only one that was forgotten
    and of which nobody else was refused."""
    named = refused.where("transactional_id is not null").withColumn("guessed", F.lit(False))
    unnamed = refused.where("transactional_id is null").drop("transactional_id")
    others = forgotten.join(
        prefixed(named, "_", "transactional_id"), same("_", ["transactional_id"]), "left_anti"
    )
    before = [F.col("ms") <= F.col("at_ms") + _SKEW_MS]
    candidates = (
        unnamed.select(F.col("client").alias("_client"), "at_ms")
        .join(others.select("transactional_id", "ms"), before)
        .groupBy("_client")
        .agg(F.min("transactional_id").alias("transactional_id"), F.max("transactional_id").alias("other"))
        .where("transactional_id = other")
        .select("_client", "transactional_id")
    )
    guessed = unnamed.join(candidates, [F.col("client") == F.col("_client")], "left")
    guessed = guessed.withColumn("guessed", F.col("transactional_id").isNotNull())
    return named.unionByName(guessed.select(*named.columns))


def _hanging(observations: Table) -> Table:
    key = (*PARTITION, "producer_id")
    appends = of_kinds(observations, "append").where(
        "producer_id is not null and detail like '%transactional%'"
    )
    control = F.col("detail").like("%control%")
    # Three replicas tell of the same batch.
    batches = (
        appends.where(~control)
        .withColumn("seen", seen())
        .groupBy(*key, "offset")
        .agg(F.min("time_ms").alias("time_ms"), F.min_by("seen", "file").alias("seen"))
    )
    markers = appends.where(control).groupBy(*key).agg(F.max("offset").alias("_ended"))
    ends = of_kinds(observations, "append").groupBy(*PARTITION).agg(F.max("time_ms").alias("end_ms"))
    unended = batches.join(markers, list(key), "left").where("offset > coalesce(_ended, -1)")
    first = unended.groupBy(*key).agg(
        F.min("offset").alias("offset"),
        F.min_by("time_ms", "offset").alias("time_ms"),
        F.min_by("seen", "offset").alias("seen"),
    )
    states = (
        of_kinds(observations, "transaction")
        .where("producer_id is not null and transactional_id is not null")
        # What a producer began with says nothing of how its transactions end.
        .where("detail not in ('initialized', 'timed out', 'asks for the next epoch', 'aborting')")
        .withColumn("seen", seen())
        .groupBy("producer_id")
        .agg(
            F.max_by("detail", "time_ms").alias("state"),
            F.max_by("transactional_id", "time_ms").alias("transactional_id"),
            F.max_by("seen", "time_ms").alias("state_seen"),
        )
    )
    by_file = of_kinds(observations, "transaction").groupBy(F.col("file").alias("state_file"))
    known = by_file.agg(F.max("time_ms").alias("known_ms"))
    rows = first.join(states, "producer_id").where("state like 'Complete%' or state like 'Empty%'")
    rows = rows.join(ends, list(PARTITION), "left").withColumn("state_file", F.col("state_seen.file"))
    rows = rows.join(known, "state_file", "left")
    # Whoever copies the files of brokers that run may have the begin of a transaction, and not its state.
    goes_on = F.coalesce(F.col("end_ms") - F.col("time_ms"), F.lit(0))
    sure = F.coalesce(F.col("known_ms") > F.col("time_ms"), F.lit(False)) | (goes_on >= _LONGEST_MS)
    rows = rows.withColumns({"goes_on": goes_on, "sure": sure}).where(sure | (goes_on >= _LEAST_MS))
    return findings(
        rows,
        signature="hanging-transaction",
        **judged(
            If(
                F.col("sure"),
                CERTAIN,
                "no marker follows the batch, and the coordinator knows of no transaction that is open",
            ),
            If(F.col("goes_on") >= _USUAL_MS, LIKELY, _COPIED),
            Else(POSSIBLE, _COPIED),
        ),
        summary=sentence(
            "a batch of transactional id {transactional_id} at offset {offset} of {at} belongs to no "
            "transaction that the coordinator knows of: read_committed consumers wait there for ever",
            at=place(),
        ),
        evidence=[F.col("state_seen"), F.col("seen")],
        behaviours=["transaction-verification"],
        ids=["KIP-890", "KIP-664"],
    )


def _written_twice(observations: Table) -> Table:
    """Batches that have the same sequence and as many records: those of a producer that starts over differ.

    Not here: what coordinators append for producers, whose sequences nobody checks. Each transactional commit
    of offsets has base sequence 0, and the producer's epoch rises with each transaction only since KIP-890
    (GroupMetadataManager.storeOffsets, CoordinatorRuntime; ProducerAppendInfo.checkSequence).
    """
    key = (*PARTITION, "producer_id", "producer_epoch", "sequence", "records")
    batches = (
        of_kinds(observations, "append")
        .where(
            "producer_id is not null and sequence is not null and coalesce(detail, '') not like '%control%'"
        )
        .where(~F.coalesce(F.col("topic").isin(*INTERNAL), F.lit(False)))
        .withColumn("records", F.coalesce(F.col("end_offset") - F.col("offset"), F.lit(_UNTOLD)))
    )
    # In one file: replicas may have had different logs.
    window = Window.partitionBy("file", *key).orderBy("offset")
    twice = (
        batches.withColumn("again", F.col("offset"))
        .withColumn("offset", F.lag("again").over(window))
        .withColumn("stamped", F.lag("time_ms").over(window))
        .where(F.col("again") > F.col("offset"))
        # After the last sequence comes 0, in the same epoch.
        .where(F.col("again") - F.col("offset") < _SEQUENCES)
        .withColumn("same_time", F.col("time_ms") == F.col("stamped"))
        .groupBy(*key, "offset", "again")
        .agg(F.min("file").alias("file"), F.max("same_time").alias("same_time"))
    )
    shown = prefixed(batches, "_", "file", *key, "offset", seen=seen())
    either = [*same("_", ("file", *key)), F.col("_offset").isin(F.col("offset"), F.col("again"))]
    rows = (
        twice.join(shown, either)
        .groupBy(*key, "offset", "again", "same_time")
        .agg(F.collect_list("seen").alias("evidence"))
    )
    return findings(
        rows,
        signature="producer-expired",
        **judged(
            If(
                F.coalesce("same_time", F.lit(False)),
                LIKELY,
                "a leader refuses to append a batch again, unless it has forgotten the producer",
            ),
            Else(
                POSSIBLE,
                "the batches have other times: the broker stamped them, or the producer began again with "
                "this sequence, because its leader had forgotten it",
            ),
        ),
        summary=sentence(
            "producer {producer_id} wrote its batch of sequence {sequence} to {at} twice, at offset {offset} "
            "and again at {again}: the leader had forgotten it in between",
            at=place(),
        ),
        evidence=F.col("evidence"),
        behaviours=["producer-state-retention"],
        ids=["KIP-360"],
    )


_LATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "verification", [pytest.param("none", id="incident"), pytest.param("abortable", id="prevented")]
)
def test_a_batch_that_comes_after_its_transaction_stops_no_reader(verification: str) -> None:
    policies = {{"transaction-verification": verification}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, policies=policies) as cluster:
        producer = Producer(
            {{"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "payments"}}
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        late = cluster.faults.add("hold", api="Produce", times=1)
        producer.produce("{topic}", "1")
        late.wait_held()
        producer.purge()
        producer.flush(30)
        producer.abort_transaction(30)
        late.release()
        written = cluster.produce("{topic}", "2")
        assert cluster.records("{topic}", isolation_level="read_committed") == [written]
"""
)
_EXPIRED: Final = ("transactional-id-expired",)
_IDLE: Final = Template(
    """\
import pytest
from confluent_kafka import KafkaException, Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "expiration_ms", [pytest.param("3600000", id="incident"), pytest.param("604800000", id="prevented")]
)
def test_a_producer_goes_on_after_a_pause(expiration_ms: str) -> None:
    config = {{"transactional.id.expiration.ms": expiration_ms}}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config, clock="manual"
    ) as cluster:
        producer = Producer(
            {{"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "payments"}}
        )
        producer.init_transactions(30)
        for value in ("1", "2"):
            try:
                producer.begin_transaction()
                producer.produce("{topic}", value)
                producer.commit_transaction(30)
            except KafkaException as error:
                pytest.fail(f"it may not go on: {{error}}")
            cluster.clock.advance(24 * 3_600_000)
"""
)
_HANGING: Final = ("hanging-transaction",)
_FORGOTTEN: Final = ("producer-expired",)
SEARCH: Final = Search(
    "transactions",
    find,
    ("refused", "append"),
    Signature(
        _EXPIRED,
        "a transactional producer was refused, because its id had expired",
        reproductions=(
            Reproduction(
                _EXPIRED,
                "transactional.id.expiration.ms below the time that the producer is idle",
                "transactional.id.expiration.ms above it",
                template=_IDLE,
            ),
        ),
    ),
    Signature(
        _FORGOTTEN,
        "the leader had forgotten an idempotent producer: a batch that it sent again is in the log twice; "
        "only *possible* if the two have other times",
        known_as="KIP-360",
        rules=leads(_FORGOTTEN, SEQUENCES, PRODUCER, LATE_MS, "nobody knew its last sequence"),
        looked_for=Alike("a producer that was forgotten", _FORGOTTEN, BATCHES),
        reproductions=(forgotten_producer("producer-expired", "written-twice"),),
    ),
    Signature(
        _HANGING,
        "a batch that came after its transaction: no marker follows, and read_committed consumers wait; "
        "*certain* only if the coordinator's log goes on after it, or the partition's for 15 minutes",
        known_as="KIP-890",
        rules=leads(_HANGING, ("lag-spike",), PARTITION, EVER_MS, "nothing more is stable"),
        reproductions=(
            Reproduction(
                _HANGING,
                "transaction-verification=none",
                "transaction-verification=abortable",
                template=_LATE,
            ),
        ),
    ),
)
