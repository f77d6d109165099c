"""`offsets-topic-expanded`, `offsets-topic-retention`: what groups have committed is where no coordinator
looks for it any more, or was deleted.

Which partition of the offsets topic has a group's offsets follows from its id and from the number of
partitions, which brokers ask for when they start (GroupCoordinatorService). The topic is to be compacted
only: if its segments are deleted, coordinators know the offsets until they are restarted, or move.
"""

from typing import Final

from ..consequences import ANYWHERE, BEHIND, EVER_MS, REWOUND, SET_BACK, leads
from ..deletions import BY_RETENTION
from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..offsets_log import logs
from ..rows import of_kinds, only_if, row, seen, sentence
from ..signature import BROKERS, OFFSETS, Alike, Search, Signature
from ..tables import Table
from ..tables import functions as F

_OFFSETS: Final = "__consumer_offsets"
_HOME: Final = rf"(?:^|/){_OFFSETS}-(\d+)$"
_EXPANDED: Final = ("offsets-topic-expanded",)
_RETENTION: Final = ("offsets-topic-retention",)
_DELETES: Final = r"^cleanup\.policy = .*delete"


def find(observations: Table) -> Table:
    return _expanded(observations).unionByName(_deleted(observations))


def _expanded(observations: Table) -> Table:
    """Groups that commit to one partition of the offsets topic, and then to another one."""
    commits = logs(observations).where("kind = 'commit' and source = 'segment' and group is not null")
    commits = commits.where("topic is not null and time_ms is not null")
    commits = commits.withColumn("home", F.regexp_extract("log", _HOME, 1)).where(F.col("home") != "")
    each = commits.groupBy("group", "home").agg(
        F.min("time_ms").alias("since_ms"), F.max("time_ms").alias("until_ms")
    )
    each = each.persist()
    then = each.select(*(F.col(name).alias(f"_{name}") for name in ("group", "home", "since_ms")))
    moved = each.join(then, [F.col("group") == F.col("_group"), F.col("until_ms") < F.col("_since_ms")])
    moved = moved.where(F.col("home") != F.col("_home")).persist()
    at = F.struct("time_ms", "file", "position")
    ends = (
        commits.join(moved.select("group"), "group", "left_semi")
        .groupBy("group", "home")
        .agg(F.min_by(row(), at).alias("first"), F.max_by(row(), at).alias("last"))
        .persist()
    )
    moved = moved.join(ends.select("group", "home", "last"), ["group", "home"])
    first = ends.select(*(F.col(name).alias(f"_{name}") for name in ("group", "home", "first")))
    moved = moved.join(first, ["_group", "_home"]).withColumn("topic", F.lit(_OFFSETS))
    created = of_kinds(observations, "log").where("detail = 'created' and partition >= 0")
    created = created.where((F.col("topic") == _OFFSETS) & F.col("time_ms").isNotNull())
    created = created.select(
        F.col("partition").cast("string").alias("new"), F.col("time_ms").alias("new_ms"), seen().alias("made")
    )
    later = [F.col("_home") == F.col("new"), F.col("new_ms").between(F.col("since_ms"), F.col("_since_ms"))]
    rows = (
        moved.join(created, later, "left")
        .groupBy("topic")
        .agg(
            F.min("group").alias("one"),
            F.count_distinct("group").alias("count"),
            F.min_by("last", "_since_ms").alias("was"),
            F.min_by("_first", "_since_ms").alias("now"),
            F.min_by("made", "new_ms").alias("made"),
        )
    )
    return findings(
        rows,
        signature=_EXPANDED[0],
        **judged(
            If(
                F.col("made").isNotNull(),
                CERTAIN,
                "a broker says that the other partition was created after these groups had committed",
            ),
            Else(LIKELY, "a group stays in one partition for as long as there are as many of them"),
        ),
        summary=sentence(
            "partitions were added to __consumer_offsets: since brokers were restarted, the "
            "offsets of {groups} are in other ones than before, and those from then are not found",
            groups=F.concat(
                F.lit("group "),
                F.col("one"),
                only_if(F.col("count") > 1, " and {more} more", more=F.col("count") - 1),
            ),
        ),
        evidence=[seen("was"), F.col("made"), seen("now")],
    )


def _deleted(observations: Table) -> Table:
    starts = of_kinds(observations, "log-start").where(F.col("detail").startswith(BY_RETENTION))
    starts = starts.where((F.col("topic") == _OFFSETS) & (F.col("offset") > 0))
    starts = starts.where("time_ms is not null").withColumn("shown", seen())
    rows = starts.groupBy("topic").agg(
        F.min("time_ms").alias("time_ms"),
        F.min_by("shown", "time_ms").alias("shown"),
        F.min_by("partition", "time_ms").alias("first"),
        F.count_distinct("partition").alias("count"),
        F.min_by("broker", "time_ms").alias("broker"),
    )
    policies = of_kinds(observations, "config").where(F.col("detail").rlike(_DELETES))
    policies = policies.where((F.col("topic") == _OFFSETS) & F.col("time_ms").isNotNull())
    by_topic = policies.withColumn("set", seen()).groupBy(F.col("topic").alias("_topic"))
    policies = by_topic.agg(F.min_by("set", "time_ms").alias("set"))
    rows = rows.join(policies, [F.col("topic") == F.col("_topic")], "left")
    return findings(
        rows,
        signature=_RETENTION[0],
        confidence=CERTAIN,
        why="the broker says that it deleted segments of the topic as old or beyond its size",
        summary=F.concat(
            sentence(
                "retention deleted segments of __consumer_offsets-{first}{more}, and with them what groups "
                "had committed: their coordinator forgets it once it is restarted, or moves",
                more=only_if(
                    F.col("count") > 1, " and of {others} more partitions", others=F.col("count") - 1
                ),
            ),
            only_if(F.col("set").isNotNull(), "; somebody had set cleanup.policy of the topic to delete"),
        ),
        evidence=[F.col("set"), F.col("shown")],
    )


SEARCH: Final = Search(
    "offsets that are mislaid",
    find,
    ("commit", "log-start"),
    Signature(
        _EXPANDED,
        "partitions were added to `__consumer_offsets`: after the next restart of brokers groups belong to "
        "others of them, in which they have no offsets",
        stories={_EXPANDED[0]: "partitions were added to __consumer_offsets"},
        rules=leads(_EXPANDED, (*REWOUND, *SET_BACK, *BEHIND), ANYWHERE, EVER_MS, "its offset lay elsewhere"),
        looked_for=Alike("partitions that were added to __consumer_offsets", _EXPANDED, OFFSETS),
        unshown="a mock cluster's offsets topic keeps the partitions that it began with",
    ),
    Signature(
        _RETENTION,
        "segments of `__consumer_offsets` were deleted by retention (`cleanup.policy=delete`): coordinators "
        "forget what was committed in them once they are restarted, or move",
        stories={_RETENTION[0]: "committed offsets were deleted by retention"},
        rules=leads(_RETENTION, (*REWOUND, *SET_BACK, *BEHIND), ANYWHERE, EVER_MS, "its offset was deleted"),
        looked_for=Alike("a retention of committed offsets", _RETENTION, BROKERS),
        unshown="a mock cluster's offsets topic is compacted only",
    ),
)
