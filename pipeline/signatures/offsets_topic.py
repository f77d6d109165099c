"""`offset-rewind`, `admin-reset`, `tombstone-of-live-group`: what the offsets topic tells, record by record.

At LinkedIn in 2015 a coordinator stopped loading at a record that it could not parse, and served an offset of
a month before, from which the group went on. Another coordinator's load took minutes, because the log cleaner
was dead; meanwhile it cleaned up old offsets that newer ones were to replace, and its tombstones deleted the
newer ones. Rows are compared in the order of the log: a dump's tombstones may have no time, and clocks of
brokers differ. An operator's reset, which Kafka allows only while the group has no members
(GroupMetadataManager), is told apart. Not here: the deletion of a group, of a topic, and of offsets whose
topic no member reads; offsets that expired.
"""

from typing import Final

from ..consequences import BEHIND, EVER_MS, GROUP, REWOUND, leads
from ..findings import LIKELY, POSSIBLE, Else, If, findings, judged, texts
from ..offsets_log import DAY_MS, KEY, NO_MEMBERS, OF_GROUP, UNCLEANED_MS, logs, set_on, told
from ..reproduction import Reproduction, Template, answering, explored
from ..rows import NO_PARTITION, first_of, only_if, place, prefixed, row, seen, sentence
from ..signature import OFFSETS, Alike, Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_ONCE: Final = Window.partitionBy(*GROUP, "offset", "last.offset").orderBy("file", "position")
_CHECK_MS: Final = 600_000
"""The default of `offsets.retention.check.interval.ms`."""
_SENT_AGAIN_MS: Final = 60_000
"""librdkafka's default of `socket.timeout.ms`; others give a request up sooner."""
_CROSSED_MS: Final = 500
_AT_ONCE_MS: Final = 10_000
_IN_FLIGHT: Final = 5
"""The number of commits that may be sent again together: Java's default for requests in flight."""
_UNPARSED: Final = "__consumer_offsets record at "


def find(observations: Table) -> Table:
    rows = logs(observations)
    story = told(rows).persist()
    found = _went_back(story, rows).unionByName(_deleted(story))
    return found.unionByName(_set_back(story)).unionByName(_set(set_on(rows), "set on"))


def _went_back(story: Table, rows: Table) -> Table:
    suspects = story.where("kind = 'commit' and last.kind = 'commit' and offset < last.offset")
    # Only an operator, or a consumer that is no member, can commit while the group has none.
    unasked = F.col("state") == "Stable"
    epoch_kept = F.col("leader_epoch").isNotNull() | F.col("last.leader_epoch").isNull()
    untold = F.col("tells_groups").isNull() & epoch_kept
    suspects = suspects.where(unasked | untold).withColumn("id", F.struct("log", "at", "group"))
    suspects = _without_overtaken(suspects, story)
    suspects = _with_older(suspects, story)
    suspects = _with_unparsed(suspects, rows)
    apart = F.col("last.offset") - F.col("offset")
    near = F.col("offset") - F.col("older.offset") <= apart / 10
    # A group that always starts over commits the same offsets again, and its log has those in between.
    left_over = F.col("following.time_ms") - F.col("older.time_ms") >= DAY_MS
    suspects = suspects.withColumns(
        {
            "apart": apart,
            "resumed": F.coalesce(near & left_over, F.lit(False)),
            "rebalanced": F.col("generations") > F.col("last_generations"),
        }
    )
    # KafkaJS commits -2 or -1 when its position is out of range: for the earliest or the latest offset.
    suspects = suspects.where("(tells_groups or resumed) and offset >= 0")
    suspects = first_of(suspects, _ONCE)
    stopped = F.col("unparsed").isNotNull() & (F.col("rebalanced") | F.col("tells_groups").isNull())
    forgotten = F.coalesce(F.col("known_generation") < F.col("last_generation"), F.lit(False))
    moved = F.col("rebalanced") & F.col("resumed")
    soon = F.col("time_ms") - F.col("last.time_ms") <= _AT_ONCE_MS
    crossed = F.coalesce(soon & ~F.col("rebalanced"), F.lit(False))
    as_loaded = stopped | forgotten | F.col("resumed")
    return findings(
        suspects,
        signature="offset-rewind",
        **judged(
            If(stopped, LIKELY, "an earlier record of the topic can't be read: a load stops or fails at it"),
            If(
                forgotten,
                LIKELY,
                "the group began again at a lower generation, although nothing deleted it: its coordinator "
                "had not loaded it",
            ),
            If(
                moved,
                LIKELY,
                "after a rebalance a member went on from a commit that had been replaced long ago; an "
                "operator can't reset a group that has members",
            ),
            If(
                F.col("tells_groups").isNull(),
                POSSIBLE,
                "the dump has no records of groups, so that a reset by an operator can't be told apart",
            ),
            If(
                crossed,
                POSSIBLE,
                "a member went back at once, and did not rebalance: commits that overtook each other, or "
                "workers of which each commits what it has done; its user may have set it back, too",
            ),
            Else(POSSIBLE, "a member went back: it may have been set back by its user, or by a reset"),
        ),
        summary=F.concat(
            sentence(
                "group {group} committed {offset} for {at}, {apart} behind the {newest} that the offsets "
                "topic has right before",
                at=place(),
                newest="last.offset",
            ),
            only_if(
                F.col("resumed"),
                ", near its commit of {older} from {age} ms before that, as when loading the offsets "
                "stopped early",
                older="older.offset",
                age=F.col("last.time_ms") - F.col("older.time_ms"),
            ),
        ),
        evidence=[seen("older"), seen("unparsed"), seen("last"), seen()],
        behaviours=F.when(as_loaded, texts("offsets-load")).otherwise(texts()),
        ids=F.when(as_loaded, texts("KAFKA-5600")).otherwise(texts()),
    )


def _set_back(story: Table) -> Table:
    """Members commit with an epoch, and a group of a consumer that is no member never had a generation."""
    rows = story.where("kind = 'commit' and last.kind = 'commit' and offset < last.offset")
    rows = rows.where((F.col("state") == NO_MEMBERS) & (F.col("known_generation") > 0))
    return _set(rows.where(F.col("leader_epoch").isNull()), "set back")


def _set(rows: Table, how: str) -> Table:
    return findings(
        first_of(rows, _ONCE),
        signature="admin-reset",
        confidence=LIKELY,
        why="the group had no members then, as when somebody resets offsets (kafka-consumer-groups "
        "--reset-offsets)",
        summary=sentence(
            "the offset of group {group} for {at} was {how} from {newest} to {offset}, while the group "
            "had no members",
            at=place(),
            how=F.lit(how),
            newest="last.offset",
        ),
        evidence=[seen("last"), seen()],
        ids=["KIP-122"],
    )


def _without_overtaken(suspects: Table, story: Table) -> Table:
    """Not here: a commit that came after a later one, as when it has to be sent again because its coordinator
    moves. Nothing is read twice then: without a rebalance the group goes on above the later one, or its log
    ends."""
    then = {f"then_{name}": F.col(name) for name in ("at", "offset", "generations")}
    commits = prefixed(story.where("kind = 'commit'"), "", *KEY, **then, then_ms=F.col("time_ms"))
    known = ("id", *KEY, "at", "last", "last_generations", "tells_groups")
    pairs = suspects.select(*known).join(commits, KEY)
    later = F.col("then_at") > F.col("at")
    above = later & (F.col("then_offset") >= F.col("last.offset"))
    soon = F.col("then_ms") - F.col("last.time_ms") <= _SENT_AGAIN_MS
    crossed = F.col("then_ms") - F.col("last.time_ms") <= _CROSSED_MS
    stayed = F.col("then_generations") == F.col("last_generations")
    told = F.col("tells_groups").isNotNull()
    returns = pairs.groupBy("id").agg(
        F.min(F.when(above & soon & stayed, F.col("then_at"))).alias("returned_at"),
        F.max(F.when(later, 1)).alias("goes_on"),
        F.max(F.when(F.col("then_at") == F.col("at"), crossed & stayed & told)).alias("late"),
    )
    between = (
        pairs.join(returns.where("returned_at is not null"), "id")
        .where("then_at >= at and then_at < returned_at")
        .groupBy("id")
        .agg(F.count("*").alias("between"))
    )
    ended = returns.where("goes_on is null and late").select("id")
    overtaken = between.where(F.col("between") <= _IN_FLIGHT).select("id").unionByName(ended)
    return suspects.join(overtaken, "id", "left_anti")


def _with_older(suspects: Table, story: Table) -> Table:
    """`older`: the commit from which the group may have gone on, the last that was not above; `following`:
    the one after it."""
    old_row = F.struct(row().alias("older"), F.col("next").alias("following"))
    old = {"old_at": F.col("at"), "old_offset": F.col("offset"), "old_row": old_row}
    commits = prefixed(story.where("kind = 'commit'"), "", *KEY, **old)
    pairs = suspects.select("id", *KEY, "offset", "last_at").join(commits, KEY)
    pairs = pairs.where("old_at < last_at and old_offset <= offset")
    older = (
        pairs.groupBy("id")
        .agg(F.max_by("old_row", "old_at").alias("old"))
        .select("id", *F.fields("old", "older", "following"))
    )
    return suspects.join(older, "id", "left")


def _with_unparsed(suspects: Table, rows: Table) -> Table:
    """`unparsed`: the last record before the commit before that can't be read."""
    unparsed = rows.where(F.col("kind") == "unreadable").where(F.col("detail").startswith(_UNPARSED))
    unparsed = unparsed.select("log", F.struct("file", "position").alias("there"), row().alias("bad"))
    pairs = suspects.select("id", "log", "last").join(unparsed, "log")
    pairs = pairs.where(F.col("there") <= F.struct(F.col("last.file"), F.col("last.position")))
    last = pairs.groupBy("id").agg(F.max_by("bad", "there").alias("unparsed"))
    return suspects.join(last, "id", "left")


def _deleted(story: Table) -> Table:
    gone = story.where("kind = 'tombstone' and topic is not null and last.kind = 'commit'")
    when = F.coalesce("time_ms", "next_ms")
    ages = {"waited": when - F.col("last.time_ms"), "age": when - F.col("oldest.time_ms")}
    gone = gone.withColumns({**ages, "unexpired": F.lit(False)})
    unexpired = gone.where(_unexpired()).withColumn("unexpired", F.lit(True))
    gone = gone.where((F.col("waited") < DAY_MS) & (F.col("age") >= DAY_MS) & ~F.col("group_gone"))
    gone = _with_spared(gone.unionByName(unexpired), story)
    has_members = F.col("state") == "Stable"
    # Whoever deletes a topic deletes its partitions all, and a new one of that name begins at 0.
    went_on = F.coalesce(F.col("next.offset") >= F.col("last.offset"), F.lit(False)) | F.col("spared")
    uncleaned = F.col("age") >= UNCLEANED_MS
    alive = F.col("tells_groups").isNull() & (F.col("next.time_ms") - F.col("last.time_ms") < DAY_MS)
    gone = gone.withColumns({"went_on": went_on, "told": has_members})
    gone = gone.where((has_members & (went_on | uncleaned)) | (alive & uncleaned) | F.col("unexpired"))
    shown = ("partition", "last", "oldest", "next", "waited", "age", "went_on", "told", "unexpired")
    one = F.struct(*shown, row().alias("gone"))
    each = gone.groupBy(*OF_GROUP, "topic", "commits").agg(
        F.min(one).alias("one"), F.count("*").alias("count")
    )
    each = each.select(*OF_GROUP, "topic", "count", *F.fields("one", *shown, "gone"))
    each = first_of(each, Window.partitionBy(*GROUP, "last.offset").orderBy("log"))
    more = only_if(F.col("count") > 1, " (and those of {others} more partitions)", others=F.col("count") - 1)
    return findings(
        each,
        signature="tombstone-of-live-group",
        **judged(
            If(
                F.col("told") & F.col("went_on"),
                LIKELY,
                "the group had members, went on committing, and an older commit was still in the log: a "
                "cleanup that had loaded only that one took it for stale",
            ),
            If(
                F.col("told"),
                POSSIBLE,
                "the group had members and the log was not compacted for weeks; the deletion of its topic "
                "would leave the same",
            ),
            If(
                F.col("unexpired"),
                POSSIBLE,
                "the group had no members, but an earlier offset of it had lived as long, and the group was "
                "not deleted with its offsets, as when they expire; an operator who deletes them leaves the "
                "same, and so does the deletion of all its topics since 4.0",
            ),
            Else(
                POSSIBLE,
                "the dump does not tell whether the group had members: an operator who deletes offsets "
                "leaves the same",
            ),
        ),
        summary=sentence(
            "the offset {newest} of group {group} for {at}{more} was deleted {waited} ms after it was "
            "committed; a commit of {age} ms before was still in the log",
            at=place(),
            newest="last.offset",
            more=more,
        ),
        evidence=[seen("oldest"), seen("last"), seen("gone"), seen("next")],
        behaviours=["offsets-cleanup", "compaction"],
        columns={"partition": F.when(F.col("count") == 1, F.col("partition")).otherwise(NO_PARTITION)},
    )


def _unexpired() -> Column:
    """Whether all offsets of a group without members were deleted, although they were too young to expire.

    They were if an earlier offset lived as long until it was replaced. When the last one expires, the group's
    tombstone is in the same batch (`GroupMetadataManager.cleanupGroupMetadata`; since 4.0
    `GroupCoordinatorShard.cleanupGroupMetadata`). Somebody who deletes a topic leaves the offsets of others.
    """
    as_before = F.col("waited").between(DAY_MS, F.col("survived") + _CHECK_MS)
    uncleaned = F.col("age") >= UNCLEANED_MS
    whole_group = (F.col("deleted_then") == F.col("keys")) & ~F.col("group_gone_then")
    went_on = F.col("next_ms").isNotNull()
    return (F.col("state") == NO_MEMBERS) & as_before & uncleaned & whole_group & went_on


def _with_spared(gone: Table, story: Table) -> Table:
    """`spared`: whether another partition of the topic kept its offset, and was committed again."""
    others = story.where("kind = 'commit' and last.kind = 'commit'").select(
        *OF_GROUP, "topic", F.col("last_at").alias("from_at"), F.col("at").alias("to_at")
    )
    gone = gone.withColumn("id", F.struct("log", "group", "at"))
    pairs = gone.select("id", *OF_GROUP, "topic", "at").join(others, [*OF_GROUP, "topic"])
    spared = pairs.where("at between from_at and to_at").select("id").distinct()
    spared = spared.withColumn("spared", F.lit(True))
    return gone.join(spared, "id", "left").fillna(False, ["spared"])


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("reset", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_the_group_goes_on_where_it_was(reset: bool) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        consumer = Consumer({{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}})
        consumer.commit(offsets=[TopicPartition("{topic}", 0, 5)], asynchronous=False)
        if reset:
            admin = AdminClient({{"bootstrap.servers": cluster.bootstrap_servers}})
            offsets = ConsumerGroupTopicPartitions({group}, [TopicPartition("{topic}", 0, 2)])
            (altered,) = admin.alter_consumer_group_offsets([offsets]).values()
            altered.result(30)
        (found,) = consumer.committed([TopicPartition("{topic}", 0)], timeout=30)
        consumer.close()
        assert found.offset == 5
"""
)
_RESET: Final = ("admin-reset",)
_TOMBSTONE: Final = ("tombstone-of-live-group",)
SEARCH: Final = Search(
    "the offsets topic",
    find,
    ("commit",),
    Signature(
        _RESET,
        "somebody set a group's offset back, or on, while it had no members (`kafka-consumer-groups "
        "--reset-offsets`)",
        known_as="KIP-122",
        stories={"admin-reset": "{who} was set elsewhere by an operator"},
        rules=leads(
            _RESET, ("offset-rewind", *BEHIND), GROUP, EVER_MS, "it goes on from the offset that was set"
        ),
        reproductions=(
            Reproduction(
                _RESET,
                "an offset that somebody sets while the group has no members",
                "the offset that the group had committed",
                template=_TEMPLATE,
            ),
        ),
    ),
    Signature(
        _TOMBSTONE,
        "in the offsets topic, a commit was deleted that was too young to expire, and an older one had not "
        "been compacted away; the group had members, or was between two runs and an earlier commit had lived "
        "as long",
        known_as="LinkedIn's second rewind",
        stories={
            "tombstone-of-live-group": "a commit of a group that still had members was deleted",
        },
        rules=leads(_TOMBSTONE, REWOUND, GROUP, EVER_MS, "its last commit was deleted"),
        alike=("load-ended-early",),
        looked_for=Alike("a commit that was deleted too early", _TOMBSTONE, OFFSETS, "tombstone", GROUP),
        reproductions=(
            explored(
                ("tombstone-of-live-group", "offset-lost"),
                "offsets-cleanup=during-load",
                "offsets-cleanup=after-load",
                "group-offset-lost",
                answering(offsets_cleanup="after-load"),
                policies={
                    "offsets-cleanup": "during-load",
                    "offsets-load-pace": "slow",
                    "compaction": "dead",
                },
                offsets_topic=True,
            ),
        ),
    ),
)
