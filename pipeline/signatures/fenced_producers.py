"""`producer-fenced`: another producer began with the same transactional id, and the first may not go on.

Not here: that a new instance takes over from one that is gone. A producer whose transaction has timed out is
refused in the same way, by the epoch that its coordinator raised; if it is gone, and never notices, that is
`open-transaction`.

Without a client's log only the coordinator's topic tells: InitProducerId aborts a transaction that is open,
and raises the epoch for that. With KIP-890 every end of a transaction raises it, and nothing can be told.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..readers.producer_messages import TIMED_OUT
from ..readers.refusal_messages import GIVEN
from ..refused_producers import ERRORS, timed_out_before
from ..reproduction import Reproduction, Template
from ..rows import first_of, of_kinds, only_if, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_SOON_MS: Final = 600_000
"""How long a producer may be idle before it notices."""
_SKEW_MS: Final = 1_000
_ANOTHER: Final = "another producer began"
_TIMED_OUT: Final = "its transaction had timed out: the coordinator"
_AT_WORK_MS: Final = 2_000
_AT_ONCE_MS: Final = 1_000
_CLIENTS: Final = ("client-log", "librdkafka-log")


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
    timed_out = timed_out_before(observations).drop("timed_out")
    own = prefixed(timed_out, "_", "client", "time_ms")
    candidates = candidates.join(own, same("_", ["client", "time_ms"]), "left_anti").unionByName(timed_out)
    unnamed = unnamed.join(candidates, ["client", "time_ms"], "left").withColumn("guessed", F.lit(True))
    rows = named.withColumn("guessed", F.lit(False)).unionByName(unnamed).persist()
    rows = _with_others(rows, begun, observations)
    # Whoever begins after the transaction was aborted only takes over.
    before = F.coalesce(F.col("second_ms") < F.col("aborted_ms"), F.col("aborted_ms").isNull())
    known = F.col("second").isNotNull() & before
    # Applications of Streams, for example, get over it with a new producer.
    rows = rows.where(known | F.col("timed_out").isNull() | F.col("given"))
    return _told(rows, known, F.col("timed_out").isNotNull() & ~known).unionByName(
        _taken_over(observations, refused)
    )


def _told(rows: Table, known: Column, timed_out: Column) -> Table:
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
            If(
                timed_out & ~F.col("guessed"),
                CERTAIN,
                f"{_TIMED_OUT} aborted it, in a newer epoch; the producer was refused afterwards",
            ),
            If(
                timed_out,
                LIKELY,
                f"{_TIMED_OUT} aborted it shortly before, the only one with whose id nobody had begun since",
            ),
            If((F.col("error") == "PRODUCER_FENCED") & ~F.col("asked"), LIKELY, "the client was told so"),
            If(
                F.col("asked"),
                POSSIBLE,
                "it was refused when it asked for an epoch: its own earlier request, whose answer it did not "
                "get, may have raised it, or the abort of its transaction; another producer with its "
                "transactional id looks the same",
            ),
            Else(
                POSSIBLE,
                "its epoch is too old: another producer began with its transactional id, or its transaction "
                "had timed out",
            ),
        ),
        summary=F.concat(
            sentence(
                "{who} {what}",
                what=F.when(
                    F.col("asked") & ~known & ~timed_out, "got no new epoch, because its own was too old"
                ).otherwise("was fenced"),
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
            only_if(
                timed_out,
                ": its transaction with transactional id {transactional_id} had timed out, and was aborted",
            ),
        ),
        evidence=[F.col("first"), F.when(known, F.col("second")), F.col("timed_out"), F.col("seen")],
        ids=["KIP-98", "KIP-360"],
    )


def _by_another(why: str, evidence: str) -> bool:
    return why.startswith(_ANOTHER)


def _by_time(why: str, evidence: str) -> bool:
    return why.startswith(_TIMED_OUT)


def _taken_over(observations: Table, refused: Table) -> Table:
    """By the coordinator's topic, of producers whose clients tell nothing: a transaction was aborted soon
    after it had begun, and another producer began at once. Whoever crashes does not come back so soon."""
    states = of_kinds(observations, "transaction").where("transactional_id is not null")
    records = states.where(F.col("source").isin("segment", "dump-log", "console-consumer"))
    # Three replicas tell the same.
    once = (
        records.withColumn("shown", seen())
        .groupBy(
            "transactional_id", "producer_id", F.col("producer_epoch").alias("epoch"), "detail", "time_ms"
        )
        .agg(F.min("position").alias("position"), F.min_by("shown", "file").alias("seen"))
    )
    window = Window.partitionBy("transactional_id").orderBy("time_ms", "position")
    what = F.struct("detail", "time_ms", "epoch", "seen")
    steps = once.withColumns(
        {
            name: F.lag(what, F.lit(back)).over(window)
            for back, name in enumerate(("ended", "ending", "open"), 1)
        }
    ).persist()
    raised = F.col("detail").startswith("PrepareCommit") & (F.col("epoch") > F.col("ended.epoch"))
    newer = prefixed(steps.where(raised), "_", "transactional_id").distinct()
    begun = prefixed(states.where(F.col("source").isin(*_CLIENTS)), "_", "transactional_id").distinct()
    named = prefixed(refused.where("transactional_id is not null"), "_", "transactional_id").distinct()
    unnamed = refused.where("transactional_id is null").select(F.col("time_ms").alias("_ms"))
    is_taken = (
        F.col("detail").startswith("Empty")
        & F.col("ended.detail").startswith("CompleteAbort")
        & F.col("ending.detail").startswith("PrepareAbort")
        & F.col("open.detail").startswith("Ongoing")
        & (F.col("ending.epoch") > F.col("open.epoch"))
        & (F.col("epoch") > F.col("ending.epoch"))
        & ((F.col("ending.time_ms") - F.col("open.time_ms")) <= _AT_WORK_MS)
        & ((F.col("time_ms") - F.col("ended.time_ms")) <= _AT_ONCE_MS)
    )
    taken = steps.where(F.coalesce(is_taken, F.lit(False)))
    for others in (newer, begun, named):
        taken = taken.join(others, same("_", ["transactional_id"]), "left_anti")
    taken = taken.join(unnamed, [F.abs(F.col("_ms") - F.col("time_ms")) <= _SOON_MS], "left_anti")
    taken = first_of(taken, window)
    return findings(
        taken,
        signature="producer-fenced",
        confidence=POSSIBLE,
        why="its transaction was aborted because another producer began with its id; whether it was there to "
        "notice, only its own log tells",
        summary=sentence(
            "a producer of transactional id {transactional_id} may have been fenced: another one began with "
            "its id, as producer {producer_id} in epoch {epoch}, {ago} ms after it had written",
            ago=F.col("ending.time_ms") - F.col("open.time_ms"),
        ),
        evidence=[F.col("open.seen"), F.col("ending.seen"), F.col("seen")],
        ids=["KIP-98", "KIP-360"],
    )


def _refused(observations: Table) -> Table:
    """The first time of each client and transactional id, and whether an application tells of the client."""
    rows = of_kinds(observations, "refused").where(F.col("error").isin(*ERRORS))
    rows = rows.where(F.col("source").isin(*_CLIENTS))
    rows = rows.where("client is not null or transactional_id is not null").withColumn("seen", seen())
    window = Window.partitionBy("client", "transactional_id").orderBy("time_ms")
    given = rows.where(F.col("detail") == GIVEN).select(F.col("client").alias("_given")).distinct()
    # Whoever asks for the next epoch is also refused if its own one got lost.
    rows = rows.withColumn("asked", F.coalesce(F.col("api") == "InitProducerId", F.lit(False)))
    first = first_of(rows, window).join(given, [F.col("client") == F.col("_given")], "left")
    told = F.col("_given").isNotNull().alias("given")
    return first.select("client", "transactional_id", "time_ms", "error", "asked", "seen", told)


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
    key = ("client", "transactional_id", "time_ms", "error", "asked", "seen", "given", "guessed")
    when = F.when(is_other, F.col("_nth"))
    rows = pairs.groupBy(*key).agg(
        F.max_by("_shown", when).alias("second"),
        F.max_by("_by", when).alias("other"),
        F.max_by("_producer_id", when).alias("producer_id"),
        F.max_by("_epoch", when).alias("epoch"),
        F.max_by("_at_ms", when).alias("second_ms"),
        F.max_by("_shown", F.when(~is_other, F.col("_nth"))).alias("first"),
        F.max_by("_epoch", F.when(~is_other, F.col("_nth"))).alias("was"),
    )
    aborted = of_kinds(observations, "transaction").where(F.col("detail") == TIMED_OUT)
    aborted = prefixed(aborted, "_", "transactional_id", "time_ms", timed_out=seen())
    ago = F.col("time_ms") - F.col("_time_ms")
    rows = rows.join(aborted, [*same("_", ["transactional_id"]), ago.between(-_SKEW_MS, _SOON_MS)], "left")
    rows = rows.withColumns({"ago": ago, "aborted_ms": F.col("_time_ms")})
    return first_of(rows, Window.partitionBy("client", "transactional_id", "time_ms").orderBy("ago"))


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
_TOO_SLOW: Final = Template(
    """\
import pytest
from confluent_kafka import KafkaException, Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "timeout_ms", [pytest.param(5_000, id="incident"), pytest.param(60_000, id="prevented")]
)
def test_a_producer_that_takes_its_time_may_commit(timeout_ms: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, clock="manual") as cluster:
        producer = Producer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "transactional.id": "payments",
                "transaction.timeout.ms": timeout_ms,
            }}
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("{topic}", "1")
        assert producer.flush(4) == 0
        cluster.clock.advance(30_000)
        try:
            producer.commit_transaction(30)
        except KafkaException as error:
            pytest.fail(f"it may not go on: {{error}}")
"""
)
SEARCH: Final = Search(
    "producers that were fenced",
    find,
    ("refused", "transaction"),
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
            Reproduction(
                _FENCED,
                "transaction.timeout.ms below the time that the producer takes",
                "transaction.timeout.ms above it",
                template=_TOO_SLOW,
                fits=_by_time,
                when="if its transaction had timed out",
            ),
        ),
    ),
)
