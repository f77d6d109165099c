"""`record-corrupt`: a batch in the midst of a segment has a wrong checksum, and a group stands before it.

Consumers that check (`check.crcs`) get no further, those that don't are given what the disk made of it. Not
here: the end of a segment that was being written, and a segment of which no group stands at that place, since
it may have been damaged when it was copied.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, of_kinds, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_WRONG: Final = "wrong CRC"
_KEY: Final = ("group", *PARTITION)


def find(observations: Table) -> Table:
    damaged = _damaged(observations).persist()
    rows = _with_groups(damaged, observations)
    return findings(
        rows,
        signature="record-corrupt",
        confidence=LIKELY,
        why="the checksum of the batch is wrong in the segment, and what groups committed last is where it "
        "begins; a copy that was damaged would look the same if they stopped there for another reason",
        summary=sentence(
            "the batch of {at} from offset {offset} up to {next} has a wrong checksum, and stands in the way "
            "of {names}: consumers that check get no further",
            at=place(),
            names=F.array_join("groups", ", "),
        ),
        evidence=[F.col("shown"), F.col("committed")],
    )


def _damaged(observations: Table) -> Table:
    """Batches between others: `offset` is where they begin, `next` where the following one does."""
    bad = of_kinds(observations, "unreadable").where("source = 'segment' and topic is not null")
    bad = bad.where(F.col("detail").startswith(_WRONG)).withColumn("shown", seen())
    bad = bad.select("file", "position", *PARTITION, "shown")
    batches = of_kinds(observations, "append").where("source = 'segment'")
    batches = prefixed(batches, "b_", "file", "position", "offset", "end_offset")
    before = F.col("b_position") < F.col("position")
    return (
        bad.join(batches, same("b_", ["file"]))
        .groupBy("file", "position", *PARTITION, "shown")
        .agg(
            F.max(F.when(before, F.col("b_end_offset"))).alias("offset"),
            F.min(F.when(~before, F.col("b_offset"))).alias("next"),
        )
        .where("next > offset")
    )


def _with_groups(damaged: Table, observations: Table) -> Table:
    """Those at which the last commit of a group is."""
    commits = of_kinds(observations, "commit").where("group is not null and topic is not null")
    at = F.struct("time_ms", "file", "position")
    last = commits.groupBy(*_KEY).agg(F.max_by(row(), at).alias("last"))
    last = prefixed(
        last, "_", *_KEY, stopped=F.col("last.offset"), committed=seen("last"), ms=F.col("last.time_ms")
    )
    stands = [*same("_", PARTITION), F.col("stopped") == F.col("offset")]
    return (
        damaged.join(last, stands)
        .groupBy(*PARTITION, "offset", "next")
        .agg(
            F.min_by("shown", "position").alias("shown"),
            F.array_sort(F.collect_set("_group")).alias("groups"),
            F.min_by("committed", "ms").alias("committed"),
            F.min("ms").alias("time_ms"),
        )
    )


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("corrupt", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_a_consumer_that_checks_gets_every_record(corrupt: bool) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        written = [cluster.produce("{topic}", str(number)) for number in range(3)]
        if corrupt:
            cluster.faults.add("corrupt-crc", api="Fetch", topic="{topic}")
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "auto.offset.reset": "earliest",
                "check.crcs": True,
            }}
        )
        consumer.subscribe(["{topic}"])
        read = []
        while len(read) < len(written):
            if (message := consumer.poll(0.1)) is None:
                continue
            if message.error():
                pytest.fail(f"it gets no further: {{message.error()}}")
            read.append(message.value())
        consumer.close()
        assert read == [each.value for each in written]
"""
)
_CORRUPT: Final = ("record-corrupt",)
SEARCH: Final = Search(
    "batches with a wrong checksum",
    find,
    ("unreadable",),
    Signature(
        _CORRUPT,
        "a batch in the midst of a segment has a wrong checksum, and groups stand before it",
        stories={"record-corrupt": "a batch was corrupt"},
        reproductions=(
            Reproduction(
                _CORRUPT,
                "a batch whose checksum is wrong",
                "batches as they were written",
                template=_TEMPLATE,
            ),
        ),
    ),
)
