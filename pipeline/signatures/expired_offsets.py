"""`offsets-expired`: a group was away for longer than its offsets are kept, and came back without any.

So do those of a topic that no member of the group subscribes to any more (KAFKA-8338). Its coordinator writes
tombstones, and logs how many. Whoever deletes a group, or its offsets, leaves the same without that line:
`group-deleted`, if the coordinator's log says so. Of a group that does not come back neither is a finding.
"""

from typing import Final

from ..consequences import BEHIND, GROUP, LATE_MS, REWOUND, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..offsets_log import logs
from ..reproduction import Reproduction, Template
from ..rows import (
    PARTITION,
    first_of,
    in_order,
    of_kinds,
    only_if,
    place,
    prefixed,
    seen,
    sentence,
    set_dead,
)
from ..signature import OFFSETS, Alike, Search, Signature
from ..tables import Column, Table, Window, WindowSpec
from ..tables import functions as F

_WEEK_MS: Final = 7 * 86_400_000
"""The default of `offsets.retention.minutes`."""
_LEAST_MS: Final = 60_000
"""The least that it can be set to."""
_NEAR_MS: Final = 2_000
"""Between a tombstone and the line of the coordinator that wrote it."""
_LINES: Final = "^(Removed \\d+ expired offsets|Generated \\d+ tombstone records while cleaning up)"
_KEY: Final = ("group", *PARTITION)
_FIRST_LOOK_MS: Final = 30_000
"""Members that rebalance before a group has committed anything find no offset several times."""


def find(observations: Table) -> Table:
    lines = of_kinds(observations, "tombstone").where("source = 'broker-log'")
    lines = lines.where(F.col("detail").rlike(_LINES))
    lines = lines.select(
        F.col("time_ms").alias("line_ms"), seen().alias("line"), F.col("broker").alias("by")
    ).persist()
    by_hand = _by_hand(observations).persist()
    told = logs(observations).where("kind = 'commit' and group is not null").select("group").distinct()
    missed = _missed(observations, lines, told).unionByName(_began_again(observations, by_hand, told))
    return _told(observations, lines, by_hand).unionByName(missed)


def _by_hand(observations: Table) -> Table:
    """The groups that somebody deleted: where the coordinator's log says so."""
    rows = of_kinds(observations, "group").where(set_dead() & F.col("time_ms").isNotNull())
    return prefixed(
        rows, "_", "group", deleted_ms=F.col("time_ms"), by_hand=seen(), deleted_at=F.col("broker")
    )


def _told(observations: Table, lines: Table, by_hand: Table) -> Table:
    """By the records of the offsets topic."""
    records = logs(observations).where("group is not null and time_ms is not null")
    records = records.withColumn("shown", seen())
    offsets = records.where("kind in ('commit', 'tombstone') and topic is not null")
    deleted = offsets.where("kind = 'tombstone'").select("log", *_KEY).distinct()
    offsets = offsets.join(deleted, ["log", *_KEY], "left_semi")
    window = Window.partitionBy("log", *_KEY).orderBy("file", "position", "time_ms")
    what = F.struct("kind", "offset", "time_ms", "shown")
    rows = offsets.withColumns(
        {"last": F.lag(what).over(window), "next": F.last(what, True).over(_following(window))}
    )
    gone = rows.where("kind = 'tombstone' and last.kind = 'commit'")
    # Each replica has them, and a commit may have been deleted that was written anew since.
    gone = first_of(gone, Window.partitionBy(*_KEY, "last.time_ms").orderBy("log"))
    gone = _with_states(gone, records).persist()
    gone = gone.join(lines, [F.abs(F.col("line_ms") - F.col("time_ms")) <= _NEAR_MS], "left")
    gone = first_of(gone, Window.partitionBy(*_KEY, "time_ms").orderBy("line_ms")).persist()
    ended = records.where("kind = 'tombstone' and topic is null").where(F.col("detail").endswith(" group"))
    ended = ended.groupBy("group", "time_ms").agg(F.lit(True).alias("whole"))
    gone = gone.join(ended, ["group", "time_ms"], "left").fillna(False, ["whole"])
    near = [F.col("group") == F.col("_group"), F.abs(F.col("deleted_ms") - F.col("time_ms")) <= _NEAR_MS]
    gone = gone.join(by_hand, near, "left")
    gone = first_of(gone, Window.partitionBy(*_KEY, "time_ms").orderBy("deleted_ms", "deleted_at"))
    gone = _with_position(gone.drop("_group", "deleted_ms"), observations)
    back = F.coalesce("at", F.col("next.offset"))
    gone = gone.withColumns({"waited": F.col("time_ms") - F.col("last.time_ms"), "back": back})
    gone = gone.where((F.col("next.kind") == "commit") | F.col("at").isNotNull())
    logged, exact = F.col("line").isNotNull(), F.col("at").isNotNull()
    somebody = F.col("by_hand").isNotNull()
    may_be_old = F.col("whole") & (F.col("waited") >= _LEAST_MS)
    # Offsets of a group with members expire, too, if none of them subscribes to the topic any more.
    unsubscribed = F.col("had_members") & (F.col("waited") >= _LEAST_MS) & ~somebody
    old = logged | somebody | (F.col("waited") >= _WEEK_MS) | may_be_old
    gone = gone.where(F.when(F.col("had_members"), logged & unsubscribed).otherwise(old))
    return findings(
        gone,
        signature=F.when(somebody, "group-deleted").otherwise("offsets-expired"),
        **judged(
            If(somebody, CERTAIN, "its coordinator says that somebody deleted the group just then"),
            If(logged, CERTAIN, "its coordinator removed expired offsets just then"),
            Else(
                POSSIBLE,
                "the offset was deleted with the group, or was old enough to expire by default; somebody who "
                "deletes a group or its offsets leaves the same: the coordinator's log would tell",
            ),
        ),
        summary=F.concat(
            sentence(
                "the offset {was} of group {group} for {at} {ended} {waited} ms after it was committed"
                "{while}",
                ended=F.when(somebody, "was deleted with the group")
                .when(logged, "expired")
                .otherwise("was deleted"),
                was="last.offset",
                at=place(),
                **{"while": only_if(unsubscribed, ", while members read only other topics")},
            ),
            F.when(exact, _went(F.col("at"), F.col("last.offset"))).otherwise(
                sentence(", and the group went on with a commit of {back}")
            ),
        ),
        evidence=[
            F.col("last.shown"),
            F.col("by_hand"),
            *(F.col("shown"), F.col("line"), F.col("at_seen"), F.col("next.shown")),
        ],
        ids=F.array(F.when(somebody, "KIP-229").otherwise("KIP-211")),
        columns={"broker": F.coalesce("deleted_at", "by")},
    )


def _went(to: Column, was: Column) -> Column:
    return (
        F.when(
            to > was, sentence(", and the group skipped the {far} records up to {to}", far=to - was, to=to)
        )
        .when(
            to < was, sentence(", and the group read {far} records again, from {to} on", far=was - to, to=to)
        )
        .otherwise(", and the group went on from there")
    )


def _following(window: WindowSpec) -> WindowSpec:
    return window.reversed.rows("UNBOUNDED PRECEDING AND 1 PRECEDING")


def _with_states(gone: Table, records: Table) -> Table:
    """`had_members`: whether the group had some then."""
    groups = records.where("kind = 'group' and detail in ('Stable', 'Empty')")
    groups = prefixed(groups, "_", "log", "group", "file", "position", state=F.col("detail"))
    key = ("log", *_KEY, "file", "position")
    earlier = [
        F.col("log") == F.col("_log"),
        F.col("group") == F.col("_group"),
        F.struct("_file", "_position") <= F.struct("file", "position"),
    ]
    last = (
        gone.select(*key)
        .join(groups, earlier)
        .groupBy(*key)
        .agg(F.max_by("state", F.struct("_file", "_position")).alias("state"))
    )
    gone = gone.join(last, list(key), "left")
    return gone.withColumn("had_members", F.coalesce(F.col("state") == "Stable", F.lit(False)))


def _with_position(gone: Table, observations: Table) -> Table:
    """`at`: where a client of the group began when it came back, if its log tells."""
    resets = of_kinds(observations, "reset").where("group is not null and offset is not null")
    resets = prefixed(resets, "_", *_KEY, "time_ms", "offset", shown=seen())
    key = (*_KEY, "time_ms")
    same_key = [F.col(name) == F.col(f"_{name}") for name in _KEY]
    first = (
        gone.select(*key)
        .join(resets, [*same_key, F.col("_time_ms") >= F.col("time_ms") - _NEAR_MS])
        .groupBy(*key)
        .agg(
            F.min_by("_offset", "_time_ms").alias("at"),
            F.min_by("shown", "_time_ms").alias("at_seen"),
        )
    )
    return gone.join(first, list(key), "left")


def _began_again(observations: Table, by_hand: Table, told: Table) -> Table:
    """By where clients began that had read before the group was deleted, where the offsets topic is not among
    the files."""
    rows = of_kinds(observations, "restore", "reset", "commit", "position").where("source = 'client-log'")
    rows = rows.where("group is not null and topic is not null and offset >= 0 and time_ms is not null")
    rows = rows.withColumn("shown", seen()).join(F.broadcast(told), "group", "left_anti")
    rows = rows.join(by_hand, [F.col("group") == F.col("_group")])
    rows = rows.withColumn("ago", F.col("time_ms") - F.col("deleted_ms"))
    what = F.struct("kind", "offset", "from_offset", "ago", "shown")
    at = F.struct("time_ms", "file", "position")
    earlier, commit = F.col("ago") < -_NEAR_MS, F.col("kind") == "commit"
    key = (*_KEY, "deleted_ms", "deleted_at", "by_hand")
    found = rows.groupBy(*key).agg(
        F.max_by(F.when(earlier, what), F.when(earlier, at)).alias("last"),
        F.max_by(F.when(earlier & commit, F.col("offset")), F.when(earlier & commit, at)).alias("was"),
        F.min_by(F.when(~earlier, what), F.when(~earlier, at)).alias("next"),
    )
    found = found.where("last is not null and next.kind = 'reset' and next.from_offset is null")
    found = found.withColumn("back_ms", F.col("deleted_ms") + F.col("next.ago"))
    found = first_of(found, Window.partitionBy(*_KEY, "back_ms").orderBy("next.ago", "deleted_at"))
    to = F.col("next.offset")
    return findings(
        found,
        signature="group-deleted",
        confidence=LIKELY,
        why="its coordinator says that somebody deleted the group before; the offsets topic would tell what "
        "it had committed",
        summary=F.concat(
            sentence(
                "group {group} was deleted {ago} ms before it began again in {at}, at {to}",
                at=place(),
                ago="next.ago",
                to=to,
            ),
            F.when(F.col("was").isNotNull(), _went(to, F.col("was"))).otherwise(""),
        ),
        evidence=[F.col("last.shown"), F.col("by_hand"), F.col("next.shown")],
        ids=["KIP-229"],
        columns={"broker": F.col("deleted_at")},
    )


def _missed(observations: Table, lines: Table, told: Table) -> Table:
    """By what clients were told, where the offsets topic is not among the files."""
    rows = of_kinds(observations, "restore", "reset", "commit").where("source = 'client-log'")
    rows = rows.where("group is not null and topic is not null").withColumn("shown", seen())
    window = in_order(*_KEY)
    rows = rows.withColumns(
        {
            "was_ms": F.lag("time_ms").over(window),
            "next_offset": F.last(F.when(F.col("kind") == "reset", F.col("offset")), True).over(
                window.reversed.rows("UNBOUNDED PRECEDING AND 1 PRECEDING")
            ),
        }
    )
    lost = rows.where("kind = 'restore' and offset < 0")
    lost = lost.where(F.col("time_ms") - F.col("was_ms") >= _FIRST_LOOK_MS)
    lost = lost.join(F.broadcast(told), "group", "left_anti")
    lost = lost.join(lines, [F.col("line_ms").between(F.col("was_ms"), F.col("time_ms") + _NEAR_MS)])
    lost = first_of(lost, Window.partitionBy(*_KEY, "time_ms").orderBy("line_ms"))
    return findings(
        lost,
        signature="offsets-expired",
        confidence=LIKELY,
        why="a coordinator removed expired offsets while the group was away; the offsets topic would tell "
        "whether they were its own",
        summary=F.concat(
            sentence(
                "group {group} found no committed offset for {at}, which it had read {ago} ms before",
                at=place(),
                ago=F.col("time_ms") - F.col("was_ms"),
            ),
            only_if(F.col("next_offset").isNotNull(), ", and began at {next_offset}"),
        ),
        evidence=[F.col("line"), F.col("shown")],
        ids=["KIP-211"],
    )


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, TopicPartition

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "minutes", [pytest.param("60", id="incident"), pytest.param("10080", id="prevented")]
)
def test_the_group_goes_on_where_it_was(minutes: str) -> None:
    config = {{"offsets.retention.minutes": minutes}}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config, clock="manual"
    ) as cluster:
        consumer = Consumer({{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}})
        consumer.commit(offsets=[TopicPartition("{topic}", 0, 5)], asynchronous=False)
        cluster.clock.advance(24 * 3_600_000)  # the group is away
        (found,) = consumer.committed([TopicPartition("{topic}", 0)], timeout=30)
        consumer.close()
        assert found.offset == 5
"""
)
_DELETION: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("deleted", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_the_group_goes_on_where_it_was(deleted: bool) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        servers = {{"bootstrap.servers": cluster.bootstrap_servers}}
        consumer = Consumer({{**servers, "group.id": {group}}})
        consumer.commit(offsets=[TopicPartition("{topic}", 0, 5)], asynchronous=False)
        if deleted:
            admin = AdminClient(servers)
            for done in admin.delete_consumer_groups([{group}]).values():
                done.result(30)
        (found,) = consumer.committed([TopicPartition("{topic}", 0)], timeout=30)
        consumer.close()
        assert found.offset == 5
"""
)
_BY_HAND: Final = ("group-deleted",)
_EXPIRED: Final = ("offsets-expired",)
SEARCH: Final = Search(
    "offsets that expired",
    find,
    ("tombstone", "restore", "reset"),
    Signature(
        _EXPIRED,
        "a group's offsets expired while it was away, or read only other topics: how many records it "
        "skipped, or read again",
        known_as="KIP-211",
        stories={"offsets-expired": "the offsets of {who} expired"},
        rules=leads(_EXPIRED, (*REWOUND, *BEHIND), GROUP, LATE_MS, "its offset had expired"),
        looked_for=Alike("offsets that expired", _EXPIRED, OFFSETS, "tombstone", ("group",)),
        reproductions=(
            Reproduction(
                _EXPIRED,
                "offsets.retention.minutes below the time that the group is away",
                "offsets.retention.minutes above it",
                template=_TEMPLATE,
            ),
        ),
    ),
    Signature(
        _BY_HAND,
        "somebody deleted a group that came back (`kafka-consumer-groups --delete`): how many records it "
        "skipped, or read again",
        known_as="KIP-229",
        stories={"group-deleted": "somebody deleted {who}"},
        rules=leads(_BY_HAND, (*REWOUND, *BEHIND), GROUP, LATE_MS, "its offset had been deleted"),
        reproductions=(
            Reproduction(_BY_HAND, "a group that is deleted", "a group that is left", template=_DELETION),
        ),
    ),
)
