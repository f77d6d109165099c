"""The records of the offsets topic in the order of its log, each with what was known of its group then."""

from typing import Final

from .rows import PARTITION, SEEN, before, log, of_kinds, row, up_to
from .tables import Table, Window, WindowSpec
from .tables import functions as F

SOURCES: Final = ("segment", "dump-log", "console-consumer")
"""What has the records of the offsets topic."""
OF_GROUP: Final = ("log", "group")
KEY: Final = (*OF_GROUP, *PARTITION)
DAY_MS: Final = 86_400_000
"""The shortest retention of offsets that was a default (`offsets.retention.minutes`, up to 1.1)."""
UNCLEANED_MS: Final = 14 * DAY_MS
"""Older commits have been compacted away: a segment is rolled after seven days at the latest."""
NO_MEMBERS: Final = "Empty"
_NEEDED: Final = (
    *KEY,
    *("file", "position", "time_ms", "kind", "offset", "detail", "generation", "leader_epoch"),
)
"""The columns that find the few groups to which something happened, of many."""


def told(rows: Table) -> Table:
    """The records of groups to which something may have happened. `tells_groups`: whether the log has records
    of groups at all."""
    groups = rows.where("group is not null")
    return _with_states(_suspected(groups)).join(_with_group_records(groups), "log", "left")


def logs(observations: Table) -> Table:
    """The records, with the log that each is in."""
    rows = of_kinds(observations, "commit", "tombstone", "group", "unreadable")
    rows = rows.where(F.col("source").isin(*SOURCES))
    # Segments that a cleaner has just written (`.log.cleaned`) repeat others of the folder.
    rows = rows.where((F.col("source") != "segment") | F.col("file").endswith(".log"))
    rows = rows.where("detail is null or detail != 'in a transaction'")
    return rows.select(*SEEN, log().alias("log"))


def _in_log(*by: str, backwards: bool = False) -> WindowSpec:
    """Records of one batch have the same position: they are taken to go forward."""
    window = Window.partitionBy(*by).orderBy("file", "position", "time_ms", "offset")
    return window.reversed if backwards else window


def _suspected(rows: Table) -> Table:
    """All records of the groups of which an offset went back, or was deleted soon after a commit."""
    offsets = rows.where("topic is not null and partition is not null")
    key = _in_log(*KEY)
    # What is sorted should be narrow, and sorted once.
    offsets = offsets.select(
        *OF_GROUP,
        *("kind", "offset", "time_ms"),
        F.lag("kind").over(key).alias("last_kind"),
        F.lag("offset").over(key).alias("last_offset"),
        F.lag("time_ms").over(key).alias("last_ms"),
        F.min("time_ms").over(up_to(key)).alias("first_ms"),
    )
    since, age = F.col("time_ms") - F.col("last_ms"), F.col("time_ms") - F.col("first_ms")
    is_suspect = (F.col("offset") < F.col("last_offset")) | (
        (F.col("kind") == "tombstone") & (since.isNull() | (since < DAY_MS) | (age >= UNCLEANED_MS))
    )
    suspects = offsets.where((F.col("last_kind") == "commit") & is_suspect).select(*OF_GROUP).distinct()
    return rows.join(suspects.persist(), OF_GROUP, "left_semi")


def _with_group_records(rows: Table) -> Table:
    """The logs in which there are records of groups. Some dumps have only those of offsets."""
    of_groups = rows.where("topic is null and detail is not null").select("log").distinct()
    return F.broadcast(of_groups.withColumn("tells_groups", F.lit(True)))


def with_members(rows: Table) -> Table:
    """Each record with whether its group had members then (`state`), and its generation."""
    group = _in_log(*OF_GROUP)
    is_tombstone = F.col("kind") == "tombstone"
    # A member of the newer types is there from its first record to its tombstone.
    was = F.coalesce(F.lag("kind").over(_in_log(*OF_GROUP, "detail")), F.lit("tombstone"))
    of_member = F.coalesce(F.col("detail").rlike("^(consumer|streams) member "), F.lit(False))
    joined = F.when(of_member & (F.col("kind") != was), F.when(is_tombstone, -1).otherwise(1)).otherwise(0)
    rows = rows.withColumns({"of_member": of_member, "joined": joined})
    rows = rows.withColumn("members", F.sum("joined").over(up_to(group)))
    by_members = F.when(F.col("members") > 0, "Stable").otherwise(NO_MEMBERS)
    state = (
        F.when(F.col("of_member"), by_members)
        .when((F.col("kind") == "group") & F.col("detail").isin("Stable", NO_MEMBERS), F.col("detail"))
        .when(is_tombstone & (F.col("detail") == "classic group"), NO_MEMBERS)
    )
    generation = F.when(F.col("kind") == "group", F.col("generation"))
    return rows.withColumns(
        {
            "state": F.last(state, True).over(up_to(group)),
            "known_generation": F.last(generation, True).over(up_to(group)),
        }
    )


def _with_states(rows: Table) -> Table:
    """Each record with what was known of its group then (`at` counts the records of the group), and with
    those of the same key before and after it."""
    group, key = _in_log(*OF_GROUP), _in_log(*KEY)
    is_commit, is_tombstone = F.col("kind") == "commit", F.col("kind") == "tombstone"
    rows = with_members(rows).withColumn("at", F.row_number().over(group))
    rows = rows.withColumns(
        {
            "generations": F.count(F.when(F.col("kind") == "group", F.col("generation"))).over(up_to(group)),
            "commits": F.count(F.when(is_commit, 1)).over(up_to(group)),
            "next_ms": F.last(F.when(is_commit, F.col("time_ms")), True).over(
                before(_in_log(*OF_GROUP, backwards=True))
            ),
            "deletions": F.count(F.when(is_tombstone, 1)).over(before(key)),
        }
    )
    here = Window.partitionBy(*OF_GROUP, "commits")
    group_gone = is_tombstone & F.col("detail").endswith(" group")
    rows = rows.withColumns(
        {
            "is_new": is_commit & (F.count(F.when(is_commit, 1)).over(up_to(key)) == 1),
            "since_last": F.col("time_ms") - F.lag("time_ms").over(key),
        }
    )
    then = Window.partitionBy(*OF_GROUP, "time_ms")
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
            "next": F.last(F.when(is_commit, row()), True).over(before(_in_log(*KEY, backwards=True))),
            "oldest": F.first(F.when(is_commit, row()), True).over(up_to(_in_log(*KEY, "deletions"))),
            "group_gone": F.max(F.coalesce(group_gone, F.lit(False))).over(here),
        }
    )


def set_on(rows: Table) -> Table:
    """The commits that took a group's offset on, once, while it had no members: those before and after it
    are of members."""
    rows = rows.where("group is not null")
    # Commits say nothing of members.
    some = rows.select(*_NEEDED).where("topic is null or leader_epoch is null")
    groups = _unasked(with_members(some)).select(*OF_GROUP).distinct()
    commits = with_members(rows.join(groups, OF_GROUP, "left_semi")).where("topic is not null")
    key = _in_log(*KEY)
    commits = commits.withColumns(
        {
            "last": F.lag(row()).over(key),
            "next": F.lead(row()).over(key),
            "was": F.lag("state").over(key),
            "then": F.lead("state").over(key),
        }
    )
    commits = _unasked(commits).where("last.kind = 'commit' and next.kind = 'commit'")
    by_members = (F.col("was") != NO_MEMBERS) & (F.col("then") != NO_MEMBERS)
    return commits.where(by_members).where("offset > last.offset")


def _unasked(rows: Table) -> Table:
    """The commits that no member made, of groups that had some before."""
    nobody = (F.col("state") == NO_MEMBERS) & (F.col("known_generation") > 0)
    return rows.where("kind = 'commit' and topic is not null and leader_epoch is null").where(nobody)
