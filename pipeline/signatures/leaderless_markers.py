"""`marker-skipped`: a transaction ended while one of its partitions had no leader, and got no marker there.

A coordinator that waits for a leader does not complete the transaction before. Only traces tell all of it:
until when the partition had no leader, when the transaction was complete, and that the last stable offset
still is where its first batch lies.
"""

from typing import Final

from ..findings import CERTAIN, findings
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, after, first_of, in_order, of_kinds, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_COMPLETE: Final = ("CompleteAbort", "CompleteCommit")
_KEY: Final = (*PARTITION, "producer_id", "offset")


def find(observations: Table) -> Table:
    rows = _batches(observations).join(_ended(observations), "producer_id")
    rows = rows.where(F.col("time_ms") <= F.col("ended_ms"))
    leaderless = same("_", PARTITION)
    leaderless.append(F.col("ended_ms").between(F.col("gone_ms"), F.col("back_ms")))
    rows = rows.join(_leaderless(observations), leaderless)
    stable = of_kinds(observations, "high-watermark").where("source = 'trace' and offset > from_offset")
    stable = prefixed(
        stable, "_", *PARTITION, stood=F.col("from_offset"), told_ms=F.col("time_ms"), told=row()
    )
    still = [*same("_", PARTITION), F.col("stood") == F.col("offset"), F.col("told_ms") > F.col("back_ms")]
    rows = rows.drop("_topic", "_partition").join(stable, still)
    last = in_order(*_KEY).reversed
    rows = rows.withColumns({"file": F.col("told.file"), "position": F.col("told.position")})
    rows = first_of(rows.withColumn("time_ms", F.col("told_ms")), last)
    return findings(
        rows,
        signature="marker-skipped",
        confidence=CERTAIN,
        why="its coordinator had completed it while the partition had no leader, and the last stable offset "
        "did not go on afterwards",
        summary=sentence(
            "the transaction of transactional id {transactional_id} at offset {offset} of {at} ended ({how}) "
            "while the partition had no leader, and got no marker there: read_committed consumers wait at "
            "{offset} until its producer's next transaction there ends, which decides on both",
            at=place(),
            how=F.col("ended.detail"),
        ),
        behaviours=["leaderless-marker"],
        ids=["KAFKA-20734"],
        evidence=[seen("began"), seen("gone"), seen("ended"), seen("told")],
    )


def _batches(observations: Table) -> Table:
    """Of transactions, as their producers were answered."""
    batches = of_kinds(observations, "append").where(
        "source = 'trace' and transactional_id is not null and producer_id is not null and offset is not null"
    )
    return batches.select(*PARTITION, "producer_id", "offset", "time_ms", row().alias("began"))


def _ended(observations: Table) -> Table:
    """When a coordinator had completed a transaction."""
    ended = of_kinds(observations, "transaction").where(
        (F.col("source") == "trace") & F.col("detail").isin(*_COMPLETE)
    )
    about = ("producer_id", "transactional_id")
    return ended.select(*about, F.col("time_ms").alias("ended_ms"), row().alias("ended"))


def _leaderless(observations: Table) -> Table:
    """From when until when partitions had no leader."""
    leaders = of_kinds(observations, "leader").where("source = 'trace' and topic is not null")
    following = F.last("time_ms", True).over(after(in_order(*PARTITION)))
    gone = leaders.withColumn("back_ms", following).where("leader < 0 and back_ms is not null")
    return prefixed(gone, "_", *PARTITION, gone_ms=F.col("time_ms"), back_ms=F.col("back_ms"), gone=row())


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster, unchecked

# {story}


@pytest.mark.parametrize(
    "answer", [pytest.param("skipped", id="incident"), pytest.param("waits", id="prevented")]
)
def test_readers_go_on_after_a_transaction_ended_without_a_leader(answer: str) -> None:
    policies = unchecked({{"leaderless-marker": answer}})
    with MockCluster(brokers=4, policies=policies, trace=True) as cluster:
        producer = Producer(
            {{"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "billing"}}
        )
        producer.init_transactions(30)
        leader = 4 if cluster.transaction("billing").coordinator != 4 else 3
        cluster.create_topic("{topic}", replica_assignment=[[leader]])
        producer.begin_transaction()
        producer.produce("{topic}", "aborted")
        assert producer.flush(30) == 0
        cluster.stop_broker(leader)
        producer.abort_transaction(30)
        cluster.start_broker(leader)
        cluster.trace.wait("transaction", transactional_id="billing", state="CompleteAbort")
        written = cluster.produce("{topic}", "after it")
        assert cluster.records("{topic}", isolation_level="read_committed") == [written]
"""
)
_SKIPPED: Final = ("marker-skipped",)
SEARCH: Final = Search(
    "markers of partitions without a leader",
    find,
    ("transaction",),
    Signature(
        _SKIPPED,
        "a transaction ended while one of its partitions had no leader, and got no marker there: always "
        "*certain*, since only traces tell it",
        known_as="KAFKA-20734",
        stories={"marker-skipped": "{who} left a transaction open in a partition without a leader"},
        reproductions=(
            Reproduction(
                _SKIPPED,
                "a coordinator that leaves out partitions without a leader",
                "a coordinator that waits for a leader",
                template=_TEMPLATE,
            ),
        ),
    ),
)
