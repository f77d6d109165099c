"""`leader-away`: a partition had no leader while a broker was away, since no other replica was in sync.

With one replica any restart does that; only what takes half a minute is a finding. If it is a partition of an
internal topic, its groups can't commit, and its transactions don't end.
"""

from typing import Final

from ..findings import CERTAIN, findings
from ..ledgers.brokers import TIMED_OUT
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, first_of, of_kinds, place, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
_NAMES: Final = ("leader-away",)
_LEFT: Final = (TIMED_OUT, "in controlled shutdown")


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "leader").where("topic is not null and time_ms is not null")
    rows = rows.where("leader_epoch is not null and leader is not null").withColumn("shown", seen())
    columns = (*PARTITION, "leader", "leader_epoch", "time_ms", "shown")
    led = rows.where("leader = broker").select(*columns).persist()
    nobody = prefixed(rows.where("leader < 0"), "n_", *PARTITION, "leader_epoch", leaderless=F.col("shown"))
    again = prefixed(led, "a_", *PARTITION, "leader", "leader_epoch", "time_ms", back=F.col("shown"))
    next_ = F.col("leader_epoch") + 1
    pairs = led.join(nobody, [*same("n_", PARTITION), F.col("n_leader_epoch") == next_])
    later = F.col("a_leader_epoch") == next_ + 1
    pairs = pairs.join(again, [*same("a_", (*PARTITION, "leader")), later])
    left = of_kinds(observations, "broker").where("broker is not null and time_ms is not null")
    left = prefixed(left.where(F.col("detail").isin(*_LEFT)), "l_", "broker", "time_ms", left=seen())
    between = F.col("l_time_ms").between(F.col("time_ms"), F.col("a_time_ms") - _LASTS_MS)
    pairs = pairs.join(left, [F.col("leader") == F.col("l_broker"), between])
    # A disk that was replaced meanwhile is another finding.
    anew = of_kinds(observations, "log").where("detail = 'created' and broker is not null")
    anew = prefixed(anew, "c_", *PARTITION, "broker", "time_ms")
    replaced = [
        *same("c_", PARTITION),
        F.col("leader") == F.col("c_broker"),
        F.col("c_time_ms").between(F.col("l_time_ms"), F.col("a_time_ms")),
    ]
    pairs = pairs.join(anew, replaced, "left_anti")
    window = Window.partitionBy(*PARTITION, "leader_epoch").orderBy("l_time_ms", "a_time_ms")
    return findings(
        first_of(pairs, window),
        signature="leader-away",
        confidence=CERTAIN,
        why="it left, the next epoch had no leader, and the one after that is its own again",
        summary=sentence(
            "{at} had no leader for {seconds} s: broker {leader} was away, and no other replica was in sync",
            at=place(),
            seconds=F.floor((F.col("a_time_ms") - F.col("l_time_ms")) / 1000).cast("bigint"),
        ),
        evidence=[F.col("shown"), F.col("left"), F.col("leaderless"), F.col("back")],
        columns={"broker": F.col("leader")},
    )


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("replicas", [pytest.param("1", id="incident"), pytest.param("2", id="prevented")])
def test_producers_write_on_while_a_broker_is_away(replicas: str) -> None:
    config = {{"default.replication.factor": replicas, "broker.session.timeout.ms": "500"}}
    with MockCluster(kafka="{kafka}", brokers=2, topics={{"{topic}": 1}}, config=config) as cluster:
        cluster.kill_broker(cluster.topic("{topic}").partitions[0].leader)
        producer = Producer({{"bootstrap.servers": cluster.bootstrap_servers, "message.timeout.ms": 4_000}})
        errors = []
        producer.produce("{topic}", "1", on_delivery=lambda error, _: errors.append(str(error)))
        producer.flush(30)
        assert errors == ["None"]
"""
)
SEARCH: Final = Search(
    "leaders that nobody could replace",
    find,
    ("leader",),
    Signature(
        _NAMES,
        "a partition had no leader for half a minute while a broker was away, since no other replica was in "
        "sync",
        stories={"leader-away": "{who} was away, and nobody else could lead"},
        reproductions=(Reproduction(_NAMES, "one replica", "two replicas", template=_TEMPLATE),),
    ),
)
