"""`producer-fenced`: another producer began with the same transactional id, and the first may not go on.

Not here: that a new instance takes over from one that is gone. A producer whose transaction has timed out is
refused in the same way; what came first is `open-transaction`.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..readers.producer_messages import TIMED_OUT
from ..reproduction import Reproduction, Template
from ..rows import first_of, of_kinds, only_if, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_ERRORS: Final = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
_SOON_MS: Final = 600_000
"""How long a producer may be idle before it notices."""
_SKEW_MS: Final = 1_000
_ANOTHER: Final = "another producer began"


def find(observations: Table) -> Table:
    refused = _refused(observations).persist()
    begun = _begun(observations).persist()
    named = refused.where("transactional_id is not null")
    # librdkafka's log names the client only: the id is known if no other one got a second producer by then.
    unnamed = refused.where("transactional_id is null").drop("transactional_id")
    others = begun.where("nth > 1").join(
        named.select(F.col("transactional_id").alias("_named")),
        [F.col("transactional_id") == F.col("_named")],
        "left_anti",
    )
    others = others.select("transactional_id", F.col("at_ms").alias("other_ms"))
    ago = F.col("time_ms") - F.col("other_ms")
    candidates = (
        unnamed.select("client", "time_ms")
        .join(others, [ago.between(-_SKEW_MS, _SOON_MS)])
        .groupBy("client", "time_ms")
        .agg(F.min("transactional_id").alias("transactional_id"), F.max("transactional_id").alias("_other"))
        .where(F.col("transactional_id") == F.col("_other"))
        .drop("_other")
    )
    unnamed = unnamed.join(candidates, ["client", "time_ms"], "left").withColumn("guessed", F.lit(True))
    rows = named.withColumn("guessed", F.lit(False)).unionByName(unnamed).persist()
    rows = _with_others(rows, begun, observations)
    known, timed_out = F.col("second").isNotNull(), F.col("timed_out").isNotNull()
    rows = rows.where(known | ~timed_out)
    return findings(
        rows,
        signature="producer-fenced",
        **judged(
            If(
                known & ~F.col("guessed") & (F.col("epoch") > F.col("was")),
                CERTAIN,
                f"{_ANOTHER} with its transactional id, in a newer epoch, and the first was refused",
            ),
            If(known, LIKELY, f"{_ANOTHER} with a transactional id shortly before"),
            If(F.col("error") == "PRODUCER_FENCED", LIKELY, "the client was told so"),
            Else(
                POSSIBLE,
                "its epoch is too old: another producer began with its transactional id, or its transaction "
                "had timed out",
            ),
        ),
        summary=F.concat(
            sentence(
                "{who} was fenced",
                who=F.coalesce(
                    F.concat(F.lit("producer "), "client"),
                    F.concat(F.lit("a producer of transactional id "), "transactional_id"),
                    F.lit("a producer"),
                ),
            ),
            only_if(
                known,
                ": {another} had begun with its transactional id {transactional_id}, as producer "
                "{producer_id} in epoch {epoch}",
                another=F.coalesce(F.concat(F.lit("producer "), "other"), F.lit("another producer")),
            ),
        ),
        evidence=[F.col("first"), F.col("second"), F.col("timed_out"), F.col("seen")],
        ids=["KIP-98", "KIP-360"],
    )


def _by_another(why: str, evidence: str) -> bool:
    return why.startswith(_ANOTHER)


def _refused(observations: Table) -> Table:
    """The first time of each client and transactional id."""
    rows = of_kinds(observations, "refused").where(F.col("error").isin(*_ERRORS))
    rows = rows.where("source in ('client-log', 'librdkafka-log')")
    rows = rows.where("client is not null or transactional_id is not null").withColumn("seen", seen())
    first = first_of(rows, Window.partitionBy("client", "transactional_id").orderBy("time_ms"))
    return first.select("client", "transactional_id", "time_ms", "error", "seen")


def _begun(observations: Table) -> Table:
    """The producers that began with each transactional id, in order; `by` is the client, if a client says
    so."""
    rows = of_kinds(observations, "transaction").where(
        "detail = 'initialized' and transactional_id is not null and producer_id >= 0"
    )
    each = (
        rows.withColumn("shown", seen())
        .groupBy("transactional_id", "producer_id", F.col("producer_epoch").alias("epoch"))
        .agg(
            F.min("time_ms").alias("at_ms"),
            F.min_by("shown", "time_ms").alias("shown"),
            F.max("client").alias("by"),
        )
    )
    window = Window.partitionBy("transactional_id").orderBy("at_ms", "epoch")
    return each.withColumn("nth", F.row_number().over(window))


def _with_others(rows: Table, begun: Table, observations: Table) -> Table:
    """`first` and `second`: how the refused one had begun, and who came after it; `timed_out`: whether its
    coordinator had aborted."""
    own = prefixed(begun, "_", "transactional_id", "producer_id", "epoch", "at_ms", "shown", "by", "nth")
    ago = F.col("time_ms") - F.col("_at_ms")
    before = [*same("_", ["transactional_id"]), ago.between(-_SKEW_MS, _SOON_MS)]
    pairs = rows.join(own, before, "left")
    # A client doesn't fence itself when it begins anew.
    is_other = ~F.coalesce(F.col("_by") == F.col("client"), F.lit(False)) & (F.col("_nth") > 1)
    key = ("client", "transactional_id", "time_ms", "error", "seen", "guessed")
    when = F.when(is_other, F.col("_nth"))
    rows = pairs.groupBy(*key).agg(
        F.max_by("_shown", when).alias("second"),
        F.max_by("_by", when).alias("other"),
        F.max_by("_producer_id", when).alias("producer_id"),
        F.max_by("_epoch", when).alias("epoch"),
        F.max_by("_shown", F.when(~is_other, F.col("_nth"))).alias("first"),
        F.max_by("_epoch", F.when(~is_other, F.col("_nth"))).alias("was"),
    )
    aborted = of_kinds(observations, "transaction").where(F.col("detail") == TIMED_OUT)
    aborted = prefixed(
        aborted.withColumn("shown", seen())
        .groupBy("transactional_id")
        .agg(F.min("time_ms").alias("time_ms"), F.min_by("shown", "time_ms").alias("timed_out")),
        "_",
        "transactional_id",
        "time_ms",
        timed_out=F.col("timed_out"),
    )
    earlier = [*same("_", ["transactional_id"]), F.col("_time_ms") <= F.col("time_ms") + _SKEW_MS]
    return rows.join(aborted, earlier, "left")


_FENCED: Final = ("producer-fenced",)
_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import KafkaException, Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "transactional_ids",
    [
        pytest.param(("payments", "payments"), id="incident"),
        pytest.param(("payments-1", "payments-2"), id="prevented"),
    ],
)
def test_producers_at_work_do_not_fence_each_other(transactional_ids: tuple[str, str]) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        producers = [
            Producer({{"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": each}})
            for each in transactional_ids
        ]
        for producer in producers:
            producer.init_transactions(30)
            producer.begin_transaction()
        for producer in producers:
            producer.produce("{topic}", "1")
            try:
                producer.commit_transaction(30)
            except KafkaException as error:
                pytest.fail(f"it may not go on: {{error}}")
"""
)
SEARCH: Final = Search(
    "producers that were fenced",
    find,
    ("refused",),
    Signature(
        _FENCED,
        "a producer was refused for good, because another one had begun with its transactional id, or its "
        "transaction had timed out",
        known_as="KIP-98",
        stories={"producer-fenced": "its producer was fenced"},
        reproductions=(
            Reproduction(
                _FENCED,
                "one transactional id for two producers",
                "a transactional id for each",
                template=_TEMPLATE,
                fits=_by_another,
                when="if another producer had begun",
            ),
        ),
    ),
)
