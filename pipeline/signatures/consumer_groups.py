"""`rebalance-timeout`, `session-timeout`, `group-never-settles`, `migration-refused`, `joined-too-early`:
consumer groups of Kafka 4 (KIP-848); of classic groups members that fall silent again and again.

Their coordinator logs who joins, leaves and is fenced, and each epoch of the group. Members that join and
leave, topics that get partitions, and what members say anew, begin a few epochs: no finding. Nor is a classic
member that falls silent once, or comes back late: it may have died, or its coordinator was away.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..group_tests import MIGRATION, NOT_GIVEN_UP, SILENT, SILENT_IN_4, TOO_EARLY, UNSETTLED
from ..reproduction import Reproduction
from ..rows import SEEN, first_of, in_order, of_kinds, only_if, row, seen, sentence, up_to
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

LEAST: Final = 10
"""The number of epochs in a row that nobody's coming or going explains."""
PAUSE_MS: Final = 60_000
"""Heartbeats, with which epochs begin, are at most 15 s apart, unless somebody configures more."""
_EPOCH: Final = "new group epoch"
_SESSION: Final = "session expired"
_EXPIRED: Final = r"^(\S+)-[0-9a-f]{8}-[0-9a-f-]{27} left: its session expired$"
_JOINED: Final = r"^(\S+)-[0-9a-f]{8}-[0-9a-f-]{27} joined$"
"""Members that coordinators named are called after their client, or their instance."""
_BACK_MS: Final = 10_000
"""One that lives is told with its next heartbeat, and joins again at once."""
_AGAIN: Final = 2
_TRANSITION: Final = "failed to transition"
_SILENT: Final = "sent no heartbeat until its session expired: meanwhile nobody read its partitions"
_NO_GENERATION: Final = "No value present"
"""What the coordinator makes of a classic group that has no generation yet."""
_SAID: Final = "the log of the coordinator says so"
_CAME_BACK: Final = f"{_SAID}, and each time the member joined again at once"
_DISABLED: Final = "online upgrade is disabled"


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "group", "member", "refused")
    rows = rows.where("source = 'broker-log' and time_ms is not null")
    heartbeats = (F.col("kind") == "refused") & (F.col("api") == "ConsumerGroupHeartbeat")
    rows = rows.where((F.col("kind") == "member") | heartbeats | F.col("detail").startswith(_EPOCH))
    rows = rows.select(*SEEN)
    # A broker writes some lines to two files.
    same = Window.partitionBy("group", "kind", "time_ms", "detail", "generation").orderBy("file", "position")
    rows = first_of(rows, same).persist()
    refused, rows = rows.where("kind = 'refused'"), rows.where("kind != 'refused'")
    found = _fenced(rows).unionByName(_unsettled(rows)).unionByName(_refused(refused))
    return found.unionByName(_silent(rows))


def _fenced(rows: Table) -> Table:
    why = F.regexp_extract("detail", r"^\S+ fenced: (.*)$", 1)
    cause = F.when(why.rlike(_TRANSITION), "rebalance-timeout").when(why.rlike(_SESSION), "session-timeout")
    fenced = rows.where("kind = 'member'").withColumns(
        {"cause": cause, "member": F.regexp_extract("detail", r"^(\S+) ", 1)}
    )
    each = _by_cause(
        fenced, F.min_by("member", "nth").alias("member"), F.count_distinct("member").alias("members")
    )
    late = sentence(
        "did not give up its partitions within its rebalance timeout of {ms} ms, and was fenced: until then "
        "others waited for them",
        ms=F.regexp_extract("first.detail", r"within (\d+) ?ms", 1),
    )
    said = F.when(F.col("cause") == "rebalance-timeout", late).otherwise(_SILENT)
    more = only_if(F.col("times") > 1, " ({times} times, {members} of its members)")
    return findings(
        each,
        signature=F.col("cause"),
        confidence=CERTAIN,
        why=_SAID,
        summary=F.concat(sentence("member {member} of group {group} "), said, more),
        evidence=[seen("first"), seen("last")],
        ids=["KIP-848"],
    )


def _silent(rows: Table) -> Table:
    """Classic members that live: each time they join again at once, under another id."""
    expired, joined = (F.regexp_extract("detail", each, 1) for each in (_EXPIRED, _JOINED))
    named = F.nullif(F.concat(expired, joined), F.lit(""))
    rows = rows.where("kind = 'member'").withColumns({"named": named, "expired": expired != ""})
    rows = rows.where(F.col("named").isNotNull())
    window = in_order("broker", "group", "named")
    rows = rows.withColumns({"back": F.lead(row()).over(window), "dead": F.lead("expired").over(window)})
    soon = F.col("back.time_ms") - F.col("time_ms") <= _BACK_MS
    came_back = rows.where(F.col("expired") & ~F.col("dead") & soon)
    each = came_back.groupBy("broker", "group", "named").agg(
        F.min_by(row(), "time_ms").alias("first"),
        F.max_by("back", "time_ms").alias("last"),
        F.count("*").alias("times"),
    )
    return findings(
        each.where(F.col("times") >= _AGAIN),
        signature="session-timeout",
        confidence=CERTAIN,
        why=_CAME_BACK,
        summary=sentence(
            "member {named} of group {group} {silent} ({times} times, after each of which it joined again)",
            silent=F.lit(_SILENT),
        ),
        evidence=[seen("first"), seen("last")],
        ids=["KIP-62"],
    )


def _by_cause(rows: Table, *more: Column) -> Table:
    """For each group and `cause`, the first and the last row, and how many there are."""
    rows = rows.where(F.col("cause").isNotNull())
    rows = rows.withColumn("nth", F.row_number().over(in_order("group", "cause")))
    ends = F.min_by(row(), "nth").alias("first"), F.max_by(row(), "nth").alias("last")
    each = rows.groupBy("group", "cause").agg(*ends, F.count("*").alias("times"), *more)
    return each.withColumn("broker", F.col("first.broker"))


def _unsettled(rows: Table) -> Table:
    window = in_order("group")
    is_epoch = F.col("kind") == "group"
    known = F.regexp_extract("detail", r"metadata hash (-?\d+)", 1)
    rows = rows.withColumn("hash", F.when(is_epoch, known))
    was = {name: F.lag(name).over(window) for name in ("hash", "time_ms", "generation")}
    rows = rows.withColumns({f"was_{name}": column for name, column in was.items()})
    goes_on = (
        is_epoch
        & (F.col("hash") == F.col("was_hash"))
        & (F.col("generation") == F.col("was_generation") + 1)
        & (F.col("time_ms") - F.col("was_time_ms") <= PAUSE_MS)
    )
    # The first epoch of a run is explained by what was before it: somebody joined, or topics changed.
    began = F.when(goes_on, 0).otherwise(1)
    rows = rows.withColumn("run", F.sum(F.coalesce(began, F.lit(1))).over(up_to(window)))
    runs = (
        rows.where("kind = 'group'")
        .groupBy("group", "run")
        .agg(
            F.min_by(row(), "generation").alias("first"),
            F.max_by(row(), "generation").alias("last"),
            F.min("hash").alias("hash"),
            (F.count("*") - 1).alias("times"),
        )
        .where(F.col("times") >= LEAST)
    )
    each = runs.groupBy("group").agg(
        F.min_by("first", "run").alias("first"),
        F.max_by("last", "run").alias("last"),
        F.sum("times").alias("times"),
        F.min("hash").alias("hash"),
    )
    took = F.round((F.col("last.time_ms") - F.col("first.time_ms")) / 1000).cast("bigint")
    return findings(
        each.withColumn("broker", F.col("first.broker")),
        signature="group-never-settles",
        **judged(
            If(
                F.col("hash") != "",
                CERTAIN,
                "by the coordinator's log no member comes or goes meanwhile, and topics stay the same",
            ),
            Else(
                LIKELY,
                "by the coordinator's log no member comes or goes meanwhile; it does not tell of topics",
            ),
        ),
        summary=sentence(
            "group {group} began {times} epochs in {took} s, from {since} to {to}, although no member "
            "joined, left or was fenced; a possible cause: as many members ask for one assignor as for "
            "another (group.remote.assignor)",
            took=took,
            since="first.generation",
            to="last.generation",
        ),
        evidence=[seen("first"), seen("last")],
        behaviours=["assignor-change"],
        ids=["KIP-848"],
    )


def _refused(rows: Table) -> Table:
    upgrade = F.col("error") == "GROUP_ID_NOT_FOUND"
    early = (F.col("error") == "UNKNOWN_SERVER_ERROR") & (F.col("detail") == _NO_GENERATION)
    cause = F.when(upgrade, "migration-refused").when(early, "joined-too-early")
    is_early = F.col("cause") == "joined-too-early"
    early_told = sentence(
        "a member with the protocol of Kafka 4 joined group {group} while it was a classic one without a "
        "generation, and got UNKNOWN_SERVER_ERROR, after which some clients never join again"
    )
    told = sentence(
        "a member with the protocol of Kafka 4 could not join the classic group {group}: {why}",
        why="first.detail",
    )
    return findings(
        _by_cause(rows.withColumn("cause", cause)),
        signature=F.col("cause"),
        **judged(
            If(is_early, LIKELY, "the coordinator's log has the error that it makes then"),
            Else(CERTAIN, _SAID),
        ),
        summary=F.concat(
            F.when(is_early, early_told).otherwise(told), only_if(F.col("times") > 1, " ({times} times)")
        ),
        evidence=[seen("first"), seen("last")],
        ids=["KIP-848"],
    )


def _is_classic(why: str, evidence: str) -> bool:
    return why == _CAME_BACK


def _is_of_4(why: str, evidence: str) -> bool:
    return why == _SAID


def _is_disabled(why: str, evidence: str) -> bool:
    return _DISABLED in evidence


_KAFKA: Final = "4.4"
_LATE: Final = ("rebalance-timeout",)
_SILENCE: Final = ("session-timeout",)
_SESSION_FITS: Final = "a session timeout above it"
_UNSETTLED: Final = ("group-never-settles",)
_UPGRADE: Final = ("migration-refused",)
_EARLY: Final = ("joined-too-early",)
SEARCH: Final = Search(
    "consumer groups of Kafka 4",
    find,
    ("member", "group", "refused"),
    Signature(
        ("rebalance-timeout", "session-timeout"),
        "in a consumer group of Kafka 4: a member was fenced, because it did not give up its partitions in "
        "time, or fell silent; in a classic group: a member that lives fell silent again and again",
        known_as="KIP-848, KIP-62",
        stories={
            "rebalance-timeout": "{who} had members that did not give up their partitions",
            "session-timeout": "{who} had members that fell silent",
        },
        reproductions=(
            Reproduction(
                _LATE,
                "max.poll.interval.ms below the time that a member works and gives nothing up",
                "max.poll.interval.ms above it",
                template=NOT_GIVEN_UP,
                kafka=_KAFKA,
            ),
            Reproduction(
                _SILENCE,
                "session.timeout.ms below the time that a member is silent",
                _SESSION_FITS,
                template=SILENT,
                fits=_is_classic,
                when="in a classic group",
            ),
            Reproduction(
                _SILENCE,
                "group.consumer.session.timeout.ms below the time that a member is silent",
                _SESSION_FITS,
                template=SILENT_IN_4,
                kafka=_KAFKA,
                fits=_is_of_4,
                when="in a consumer group of Kafka 4",
            ),
        ),
    ),
    Signature(
        _UNSETTLED,
        "a consumer group of Kafka 4 begins epoch after epoch, although no member joins, leaves or is "
        "fenced, and its topics stay the same",
        known_as="[`assignor-change`](policies.md#assignor-change)",
        stories={"group-never-settles": "{who} had a new epoch again and again"},
        reproductions=(
            Reproduction(
                _UNSETTLED,
                "assignor-change=every-heartbeat",
                "assignor-change=at-change",
                template=UNSETTLED,
                kafka=_KAFKA,
            ),
        ),
    ),
    Signature(
        ("migration-refused", "joined-too-early"),
        "a member with the protocol of Kafka 4 could not join a classic group, and why; it joined before "
        "that group had a generation",
        known_as="KIP-848",
        stories={
            "migration-refused": "{who} could not become a group of Kafka 4",
            "joined-too-early": "{who} was joined too early",
        },
        reproductions=(
            Reproduction(
                _UPGRADE,
                "group.consumer.migration.policy=disabled",
                "group.consumer.migration.policy=bidirectional",
                template=MIGRATION,
                kafka=_KAFKA,
                fits=_is_disabled,
                when="if brokers don't let groups become ones of Kafka 4",
            ),
            Reproduction(
                _EARLY,
                "a member that joins within group.initial.rebalance.delay.ms",
                "no group.initial.rebalance.delay.ms",
                template=TOO_EARLY,
                kafka=_KAFKA,
            ),
        ),
    ),
)
