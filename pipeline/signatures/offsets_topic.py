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

from ..findings import (
    LIKELY,
    NO_PARTITION,
    POSSIBLE,
    SEEN,
    before,
    findings,
    of_kinds,
    place,
    row,
    seen,
    sentence,
    texts,
    up_to,
)
from ..tables import Column, Table, Window, WindowSpec
from ..tables import functions as F

SOURCES: Final = ("segment", "dump-log", "console-consumer")
"""What has the records of the offsets topic."""
_GROUP: Final = ("log", "group")
_KEY: Final = (*_GROUP, "topic", "partition")
_DAY_MS: Final = 86_400_000
"""The shortest retention of offsets that was a default (`offsets.retention.minutes`, up to 1.1)."""
_UNCLEANED_MS: Final = 14 * _DAY_MS
"""Older commits have been compacted away: a segment is rolled after seven days at the latest."""
_CHECK_MS: Final = 600_000
"""The default of `offsets.retention.check.interval.ms`."""
_SENT_AGAIN_MS: Final = 60_000
"""librdkafka's default of `socket.timeout.ms`; others give a request up sooner."""
_CROSSED_MS: Final = 500
_IN_FLIGHT: Final = 5
"""The number of commits that may be sent again together: Java's default for requests in flight."""
_NO_MEMBERS: Final = "Empty"
_UNPARSED: Final = "__consumer_offsets record at "


def find(observations: Table) -> Table:
    rows = _logs(observations)
    groups = rows.where("group is not null")
    story = _with_states(_suspected(groups)).join(_with_group_records(groups), "log", "left").persist()
    return _went_back(story, rows).unionByName(_set_back(story)).unionByName(_deleted(story))


def _logs(observations: Table) -> Table:
    """The records, with the log that each is in: a folder of segments, or one file of a tool."""
    rows = of_kinds(observations, "commit", "tombstone", "group", "unreadable")
    rows = rows.where(F.col("source").isin(*SOURCES))
    # Segments that a cleaner has just written (`.log.cleaned`) repeat others of the folder.
    rows = rows.where((F.col("source") != "segment") | F.col("file").endswith(".log"))
    rows = rows.where("detail is null or detail != 'in a transaction'")
    folder = F.regexp_extract("file", "^(.*)/[^/]*$", 1)
    return rows.select(
        *SEEN, F.when(F.col("source") == "segment", folder).otherwise(F.col("file")).alias("log")
    )


def _in_log(*by: str, backwards: bool = False) -> WindowSpec:
    """Records of one batch have the same position: they are taken to go forward."""
    window = Window.partitionBy(*by).orderBy("file", "position", "time_ms", "offset")
    return window.reversed if backwards else window


def _suspected(rows: Table) -> Table:
    """All records of the groups of which an offset went back, or was deleted soon after a commit."""
    last = F.lag(row()).over(_in_log(*_KEY))
    offsets = rows.where("topic is not null and partition is not null").withColumn("last", last)
    since = F.col("time_ms") - F.col("last.time_ms")
    offsets = offsets.withColumn("first_ms", F.min("time_ms").over(up_to(_in_log(*_KEY))))
    age = F.col("time_ms") - F.col("first_ms")
    is_suspect = (F.col("offset") < F.col("last.offset")) | (
        (F.col("kind") == "tombstone") & (since.isNull() | (since < _DAY_MS) | (age >= _UNCLEANED_MS))
    )
    suspects = offsets.where((F.col("last.kind") == "commit") & is_suspect).select(*_GROUP).distinct()
    return rows.join(suspects, list(_GROUP), "left_semi")


def _with_group_records(rows: Table) -> Table:
    """The logs in which there are records of groups. Some dumps have only those of offsets."""
    of_groups = rows.where("topic is null and detail is not null").select("log").distinct()
    return F.broadcast(of_groups.withColumn("tells_groups", F.lit(True)))


def _with_states(rows: Table) -> Table:
    """Each record with what was known of its group then (`at` counts the records of the group), and with
    those of the same key before and after it."""
    group, key = _in_log(*_GROUP), _in_log(*_KEY)
    is_commit, is_tombstone = F.col("kind") == "commit", F.col("kind") == "tombstone"
    # A member of the newer types is there from its first record to its tombstone.
    was = F.coalesce(F.lag("kind").over(_in_log(*_GROUP, "detail")), F.lit("tombstone"))
    of_member = F.coalesce(F.col("detail").rlike("^(consumer|streams) member "), F.lit(False))
    joined = F.when(of_member & (F.col("kind") != was), F.when(is_tombstone, -1).otherwise(1)).otherwise(0)
    rows = rows.withColumns({"of_member": of_member, "joined": joined})
    rows = rows.withColumns({"at": F.row_number().over(group), "members": F.sum("joined").over(up_to(group))})
    by_members = F.when(F.col("members") > 0, "Stable").otherwise(_NO_MEMBERS)
    state = (
        F.when(F.col("of_member"), by_members)
        .when((F.col("kind") == "group") & F.col("detail").isin("Stable", _NO_MEMBERS), F.col("detail"))
        .when(is_tombstone & (F.col("detail") == "classic group"), _NO_MEMBERS)
    )
    rows = rows.withColumns(
        {
            "state": F.last(state, True).over(up_to(group)),
            "known_generation": F.last(F.when(F.col("kind") == "group", F.col("generation")), True).over(
                up_to(group)
            ),
            "generations": F.count(F.when(F.col("kind") == "group", F.col("generation"))).over(up_to(group)),
            "commits": F.count(F.when(is_commit, 1)).over(up_to(group)),
            "next_ms": F.last(F.when(is_commit, F.col("time_ms")), True).over(
                before(_in_log(*_GROUP, backwards=True))
            ),
            "deletions": F.count(F.when(is_tombstone, 1)).over(before(key)),
        }
    )
    here = Window.partitionBy(*_GROUP, "commits")
    group_gone = is_tombstone & F.col("detail").endswith(" group")
    rows = rows.withColumns(
        {
            "is_new": is_commit & (F.count(F.when(is_commit, 1)).over(up_to(key)) == 1),
            "since_last": F.col("time_ms") - F.lag("time_ms").over(key),
        }
    )
    then = Window.partitionBy(*_GROUP, "time_ms")
    return rows.withColumns(
        {
            "last": F.lag(row()).over(key),
            "survived": F.max(F.when(is_commit, F.col("since_last"))).over(before(key)),
            "keys": F.count(F.when(F.col("is_new"), 1)).over(up_to(group)),
            "deleted_then": F.count(F.when(is_tombstone & F.col("topic").isNotNull(), 1)).over(then),
            "group_gone_then": F.max(F.coalesce(group_gone, F.lit(False))).over(then),
            "last_at": F.lag("at").over(key),
            "last_generation": F.lag("known_generation").over(key),
            "last_generations": F.lag("generations").over(key),
            "next": F.last(F.when(is_commit, row()), True).over(before(_in_log(*_KEY, backwards=True))),
            "oldest": F.first(F.when(is_commit, row()), True).over(up_to(_in_log(*_KEY, "deletions"))),
            "group_gone": F.max(F.coalesce(group_gone, F.lit(False))).over(here),
        }
    )


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
    left_over = F.col("following.time_ms") - F.col("older.time_ms") >= _DAY_MS
    suspects = suspects.withColumns(
        {
            "apart": apart,
            "resumed": F.coalesce(near & left_over, F.lit(False)),
            "rebalanced": F.col("generations") > F.col("last_generations"),
        }
    )
    suspects = suspects.where("tells_groups or resumed")
    once = Window.partitionBy(*_KEY[1:], "offset", "last.offset").orderBy("file", "position")
    suspects = suspects.withColumn("copy", F.row_number().over(once)).where("copy = 1")
    stopped = F.col("unparsed").isNotNull() & (F.col("rebalanced") | F.col("tells_groups").isNull())
    forgotten = F.coalesce(F.col("known_generation") < F.col("last_generation"), F.lit(False))
    moved = F.col("rebalanced") & F.col("resumed")
    as_loaded = stopped | forgotten | F.col("resumed")
    return findings(
        suspects,
        signature="offset-rewind",
        confidence=F.when(stopped | forgotten | moved, LIKELY).otherwise(POSSIBLE),
        why=F.when(stopped, "an earlier record of the topic can't be read: a load stops or fails at it")
        .when(
            forgotten,
            "the group began again at a lower generation, although nothing deleted it: its coordinator had "
            "not loaded it",
        )
        .when(
            moved,
            "after a rebalance a member went on from a commit that had been replaced long ago; an operator "
            "can't reset a group that has members",
        )
        .when(
            F.col("tells_groups").isNull(),
            "the dump has no records of groups, so that a reset by an operator can't be told apart",
        )
        .otherwise("a member went back: it may have been set back by its user, or by a reset"),
        summary=F.concat(
            sentence(
                "group {group} committed {offset} for {at}, {apart} behind the {newest} that the offsets "
                "topic has right before",
                at=place(),
                newest="last.offset",
            ),
            F.when(
                F.col("resumed"),
                sentence(
                    ", near its commit of {older} from {age} ms before that, as when loading the offsets "
                    "stopped early",
                    older="older.offset",
                    age=F.col("last.time_ms") - F.col("older.time_ms"),
                ),
            ).otherwise(""),
        ),
        evidence=[seen("older"), seen("unparsed"), seen("last"), seen()],
        behaviours=F.when(as_loaded, texts("offsets-load")).otherwise(texts()),
        ids=F.when(as_loaded, texts("KAFKA-5600")).otherwise(texts()),
    )


def _set_back(story: Table) -> Table:
    """Members commit with an epoch, and a group of a consumer that is no member never had a generation."""
    rows = story.where("kind = 'commit' and last.kind = 'commit' and offset < last.offset")
    rows = rows.where((F.col("state") == _NO_MEMBERS) & (F.col("known_generation") > 0))
    rows = rows.where(F.col("leader_epoch").isNull())
    once = Window.partitionBy(*_KEY[1:], "offset", "last.offset").orderBy("file", "position")
    rows = rows.withColumn("copy", F.row_number().over(once)).where("copy = 1")
    return findings(
        rows,
        signature="admin-reset",
        confidence=LIKELY,
        why="the group had no members then, as when somebody resets offsets (kafka-consumer-groups "
        "--reset-offsets)",
        summary=sentence(
            "the offset of group {group} for {at} was set back from {newest} to {offset}, while the group "
            "had no members",
            at=place(),
            newest="last.offset",
        ),
        evidence=[seen("last"), seen()],
        ids=["KIP-122"],
    )


def _without_overtaken(suspects: Table, story: Table) -> Table:
    """Not here: a commit that came after a later one, as when it has to be sent again because its coordinator
    moves. Nothing is read twice then: without a rebalance the group goes on above the later one, or its log
    ends."""
    commits = story.where("kind = 'commit'").select(
        *_KEY,
        F.col("at").alias("then_at"),
        F.col("offset").alias("then_offset"),
        F.col("time_ms").alias("then_ms"),
        F.col("generations").alias("then_generations"),
    )
    known = ("id", *_KEY, "at", "last", "last_generations", "tells_groups")
    pairs = suspects.select(*known).join(commits, list(_KEY))
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
    commits = story.where("kind = 'commit'").select(
        *_KEY,
        F.col("at").alias("old_at"),
        F.col("offset").alias("old_offset"),
        F.struct(row().alias("older"), F.col("next").alias("following")).alias("old_row"),
    )
    pairs = suspects.select("id", *_KEY, "offset", "last_at").join(commits, list(_KEY))
    pairs = pairs.where("old_at < last_at and old_offset <= offset")
    older = pairs.groupBy("id").agg(F.max_by("old_row", "old_at").alias("old")).select("id", "old.*")
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
    gone = gone.where((F.col("waited") < _DAY_MS) & (F.col("age") >= _DAY_MS) & ~F.col("group_gone"))
    gone = _with_spared(gone.unionByName(unexpired), story)
    has_members = F.col("state") == "Stable"
    # Whoever deletes a topic deletes its partitions all, and a new one of that name begins at 0.
    went_on = F.coalesce(F.col("next.offset") >= F.col("last.offset"), F.lit(False)) | F.col("spared")
    uncleaned = F.col("age") >= _UNCLEANED_MS
    alive = F.col("tells_groups").isNull() & (F.col("next.time_ms") - F.col("last.time_ms") < _DAY_MS)
    gone = gone.withColumns({"went_on": went_on, "told": has_members})
    gone = gone.where((has_members & (went_on | uncleaned)) | (alive & uncleaned) | F.col("unexpired"))
    shown = ("partition", "last", "oldest", "next", "waited", "age", "went_on", "told", "unexpired")
    one = F.struct(*shown, row().alias("gone"))
    each = gone.groupBy(*_GROUP, "topic", "commits").agg(F.min(one).alias("one"), F.count("*").alias("count"))
    each = each.select(*_GROUP, "topic", "count", "one.*")
    once = Window.partitionBy("group", "topic", "partition", "last.offset").orderBy("log")
    each = each.withColumn("copy", F.row_number().over(once)).where("copy = 1")
    sure = F.col("told") & F.col("went_on")
    more = F.when(
        F.col("count") > 1, sentence(" (and those of {others} more partitions)", others=F.col("count") - 1)
    )
    return findings(
        each,
        signature="tombstone-of-live-group",
        confidence=F.when(sure, LIKELY).otherwise(POSSIBLE),
        why=F.when(
            sure,
            "the group had members, went on committing, and an older commit was still in the log: a cleanup "
            "that had loaded only that one took it for stale",
        )
        .when(
            F.col("told"),
            "the group had members and the log was not compacted for weeks; the deletion of its topic would "
            "leave the same",
        )
        .when(
            F.col("unexpired"),
            "the group had no members, but an earlier offset of it had lived as long, and the group was not "
            "deleted with its offsets, as when they expire; an operator who deletes them leaves the same, "
            "and so does the deletion of all its topics since 4.0",
        )
        .otherwise(
            "the dump does not tell whether the group had members: an operator who deletes offsets leaves "
            "the same"
        ),
        summary=sentence(
            "the offset {newest} of group {group} for {at}{more} was deleted {waited} ms after it was "
            "committed; a commit of {age} ms before was still in the log",
            at=place(),
            newest="last.offset",
            more=F.coalesce(more, F.lit("")),
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
    as_before = F.col("waited").between(_DAY_MS, F.col("survived") + _CHECK_MS)
    uncleaned = F.col("age") >= _UNCLEANED_MS
    whole_group = (F.col("deleted_then") == F.col("keys")) & ~F.col("group_gone_then")
    went_on = F.col("next_ms").isNotNull()
    return (F.col("state") == _NO_MEMBERS) & as_before & uncleaned & whole_group & went_on


def _with_spared(gone: Table, story: Table) -> Table:
    """`spared`: whether another partition of the topic kept its offset, and was committed again."""
    others = story.where("kind = 'commit' and last.kind = 'commit'").select(
        *_GROUP, "topic", F.col("last_at").alias("from_at"), F.col("at").alias("to_at")
    )
    gone = gone.withColumn("id", F.struct("log", "group", "at"))
    pairs = gone.select("id", *_GROUP, "topic", "at").join(others, [*_GROUP, "topic"])
    spared = pairs.where("at between from_at and to_at").select("id").distinct()
    spared = spared.withColumn("spared", F.lit(True))
    return gone.join(spared, "id", "left").fillna(False, ["spared"])
