"""`reset-to-earliest`, `reset-to-latest`, `set-back`, `out-of-range`: why a consumer gave up its position.

The partition's log shows the cause: it began after the position (retention), it ended before it (a
truncation, or a leader that was cut off), or the broker did not know the epoch that the consumer asked for. A
group that has no offset yet, and a user's seek, are not findings.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from ..beside import NEAR_MS, beside, near
from ..consequences import BEHIND, GROUP, LATE_MS, SET_BACK, SOON_MS, leads
from ..deletions import BY_REQUEST, BY_RETENTION, deleted, retained
from ..findings import CERTAIN, LIKELY, POSSIBLE, findings, texts
from ..reproduction import Fits
from ..rows import (
    PARTITION,
    after,
    before,
    case,
    of_kinds,
    only_if,
    place,
    prefixed,
    same,
    seen,
    sentence,
    who,
)
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_OUT_OF_RANGE: Final = "OFFSET_OUT_OF_RANGE"
_IDS: Final = {
    "undefined-epoch": ("KAFKA-19902",),
    "diverged": ("KIP-320",),
    "truncation": ("KAFKA-19902", "KAFKA-20507"),
    "short-log": ("KAFKA-19902", "KAFKA-20507"),
}
_RETENTION: Final = "the log begins behind the position"
_FOLLOWS: Final = "^(leader offset increment|loaded)"
"""Why a log begins later although its broker deleted nothing by itself."""
_BEHAVIOURS: Final = {
    "undefined-epoch": ("undefined-epoch", "leader-epoch-entry"),
    "below-first": ("epoch-below-first",),
    "diverged": ("election",),
    "truncation": ("election",),
}
_WHY: Final = {
    "undefined-epoch": "asked where its epoch ends, the broker answered that it does not know (-1)",
    "below-first": "asked where its epoch ends, which retention had removed, the broker answered -1",
    "diverged": "the broker's log ends that epoch before the position: what was read there is no longer in "
    "the log",
    "retention": f"{_RETENTION}: retention or DeleteRecords took what was to be read",
    "truncation": "the log was truncated below the position",
    "short-log": "the log of the leader that answered ends before the position",
    "unknown": "the files don't tell where the log began and ended",
}
_CONFIDENCE: Final = {
    **dict.fromkeys(("undefined-epoch", "below-first", "diverged", "retention"), CERTAIN),
    "unknown": POSSIBLE,
}


def find(observations: Table) -> Table:
    rows = lost_positions(observations)
    rows = beside(rows, observations, ["log-start", "high-watermark", "truncation"])
    end = F.coalesce("high_watermark.end_offset", "high_watermark.offset")
    cut = near("truncation")
    lost = F.col("lost")
    undefined = (F.col("answer.end_offset") < 0) & (F.col("answer.leader_epoch") >= 0)
    cause = (
        F.when(
            undefined & (F.col("log_start.offset") > 0) & (lost <= F.col("log_start.offset")), "below-first"
        )
        .when(undefined, "undefined-epoch")
        .when((F.col("strategy") == "truncation detected") | (F.col("answer.end_offset") < lost), "diverged")
        .when(lost < F.col("log_start.offset"), "retention")
        .when(cut["offset"] < lost, "truncation")
        .when(lost > end, "short-log")
        .otherwise("unknown")
    )
    rows = _with_acts(rows.withColumns({"cause": cause, "cut": cut, "end": end}), observations)
    target = F.col("reset.offset")
    strategy = (
        F.when(F.col("reset").isNull(), "out-of-range")
        .when(F.col("strategy").isin("earliest", "latest"), F.concat(F.lit("reset-to-"), "strategy"))
        .when(F.col("cause") == "diverged", "set-back")
        .when(target.isNull() & F.col("cause").isin("retention", "unknown"), "out-of-range")
        .when(target <= F.coalesce("log_start.offset", F.lit(0)), "reset-to-earliest")
        .when(target >= F.col("end"), "reset-to-latest")
        .when(F.col("refused").isNotNull() & (target < lost), "reset-to-earliest")
        .otherwise("set-back")
    )
    # The client does not know why; a trace tells what the broker had.
    asked = (F.col("cause") == "undefined-epoch") & (F.col("source") != "trace")
    # What a log begins with is a consequence; why it does, its leader tells.
    untold = (F.col("cause") == "retention") & F.col("act").isNull() & (F.col("log_start.source") != "trace")
    no_epoch = F.col("cause").isin("truncation", "short-log") & F.col("epoch").isNull()
    return findings(
        rows,
        signature=strategy,
        confidence=case(
            (asked & F.col("log_start").isNotNull(), LIKELY),
            (asked, POSSIBLE),
            (untold, LIKELY),
            *_by_cause(_CONFIDENCE),
            otherwise=LIKELY,
        ),
        why=F.concat(
            case(*_by_cause(_WHY), otherwise=""),
            only_if(asked, "; retention, or a topic that was created anew, may lead to the same answer"),
        ),
        summary=F.concat(
            sentence("{who} lost its position", who=who()),
            only_if(lost.isNotNull(), " {lost}"),
            sentence(" in {at}", at=place()),
            F.when(
                target.isNotNull(),
                sentence(
                    " and went to {target}, {far} records {where}",
                    target=target,
                    far=F.abs(lost - target),
                    where=F.when(target < lost, "back").otherwise("on"),
                ),
            ).otherwise(F.when(F.col("reset").isNotNull(), " and reset it").otherwise("")),
            only_if(
                no_epoch, "; it knew no epoch for it, by which a leader that is behind could have been told"
            ),
        ),
        behaviours=case(*_by_cause(_BEHAVIOURS), otherwise=texts()),
        ids=case(*_by_cause(_IDS), otherwise=texts()),
        evidence=[
            F.col("refused.seen"),
            F.col("answer.seen"),
            F.col("reset.seen"),
            F.when(
                F.col("cause").isin("retention", "below-first"), F.coalesce("act", F.col("log_start.seen"))
            ),
            F.when(F.col("cause") == "truncation", F.col("cut.seen")),
            F.when(F.col("cause") == "short-log", F.col("high_watermark.seen")),
        ],
    )


def _with_acts(rows: Table, observations: Table) -> Table:
    """`act`: the line of the broker that deleted what was below the log start; others only went along."""
    acts = of_kinds(observations, "log-start").where("detail is not null")
    acts = acts.where(~F.col("detail").rlike(_FOLLOWS)).withColumn("act", seen())
    acts = acts.groupBy(*PARTITION, "offset").agg(F.min_by("act", "time_ms").alias("act"))
    acts = prefixed(acts, "_", *PARTITION, "offset", act=F.col("act"))
    own = [*same("_", PARTITION), F.col("log_start.offset") == F.col("_offset")]
    return rows.persist().join(acts, own, "left")


def lost_positions(observations: Table) -> Table:
    """Each time that a consumer's position was refused or given up, once: `lost` is the position; `refused`,
    `answer` and `reset` are the rows about it."""
    rows = of_kinds(observations, "reset", "refused", "epoch-answer", "restore")
    consumers = (F.col("error") == _OUT_OF_RANGE) & ~F.col("detail").eqNullSafe("follower")
    rows = rows.where((F.col("kind") != "refused") | consumers).where(
        "topic is not null and partition is not null"
    )
    key = F.coalesce("client", "group", "file")
    rows = rows.withColumns({"key": key, "seen": seen()})
    row = F.struct(
        *("time_ms", "offset", "from_offset", "end_offset", "leader_epoch", "current_epoch", "detail"),
        *("broker", "seen"),
    )
    # Some clients tell of both in one line.
    window = Window.partitionBy("key", *PARTITION).orderBy("time_ms", "file", "position", "kind")
    is_a = {
        kind: F.when(F.col("kind") == kind, row) for kind in ("refused", "epoch-answer", "reset", "restore")
    }
    rows = rows.withColumns(
        {
            "row": row,
            "was_refused": F.last(is_a["refused"], True).over(before(window)),
            "was_answered": F.last(is_a["epoch-answer"], True).over(before(window)),
            "restored": F.last(is_a["restore"], True).over(before(window)),
            "next_reset": F.last(is_a["reset"], True).over(after(window)),
        }
    )
    soon = F.col("next_reset.time_ms") - F.col("time_ms") <= NEAR_MS
    again = F.col("time_ms") - F.col("was_refused.time_ms") <= NEAR_MS
    unanswered = (
        (F.col("kind") == "refused") & ~F.coalesce(soon, F.lit(False)) & ~F.coalesce(again, F.lit(False))
    )
    is_reset = F.col("kind") == "reset"
    refused = F.when(is_reset, _recent("was_refused")).otherwise(F.col("row"))
    answer = F.when(_recent("was_answered")["leader_epoch"] >= 0, _recent("was_answered"))
    rows = rows.where(is_reset | unanswered).withColumns(
        {"refused": refused, "answer": answer, "reset": F.when(is_reset, F.col("row"))}
    )
    # If nothing was refused and no epoch was asked for, there was no offset yet, or the user sought.
    said = (F.col("detail") == "truncation detected") | (F.col("error") == _OUT_OF_RANGE)
    rows = rows.where(F.col("refused").isNotNull() | _unheld(F.col("answer")) | said)
    lost = F.coalesce("reset.from_offset", "refused.offset", "restored.offset")
    return rows.withColumns(
        {
            "lost": lost,
            "strategy": F.when(is_reset, F.col("detail")),
            "broker": F.coalesce("refused.broker", "answer.broker", "broker"),
            "epoch": F.coalesce("refused.leader_epoch", "answer.leader_epoch"),
        }
    ).select(
        *("source", "file", "position", "time_ms", "group", "client", *PARTITION, "broker", "lost"),
        *("strategy", "epoch", "refused", "answer", "reset"),
    )


def _unheld(answer: Column) -> Column:
    """Whether an answer means that the position is lost."""
    return answer["end_offset"].isNotNull() & (
        (answer["end_offset"] < 0)
        | (answer["end_offset"] < F.coalesce("reset.from_offset", "restored.offset"))
    )


def _recent(name: str) -> Column:
    return F.when(F.col("time_ms") - F.col(name)["time_ms"] <= NEAR_MS, F.col(name))


def _by_cause(values: Mapping[str, str | tuple[str, ...]]) -> Iterator[tuple[Column, str | Column]]:
    for cause, value in values.items():
        yield F.col("cause") == cause, value if isinstance(value, str) else texts(*value)


_POSITIONS: Final = ("reset-to-earliest", "reset-to-latest", "out-of-range")


def _because(of: str) -> Fits:
    """Whether the log begins behind the position, and its leader says why."""
    return lambda why, evidence: why.startswith(_RETENTION) and of in evidence


SEARCH: Final = Search(
    "positions that were lost",
    find,
    ("reset", "refused"),
    Signature(
        SET_BACK,
        "a consumer gave up its position, and why: retention, a truncation, a leader that was behind, an "
        "epoch that nobody knew",
        known_as="KAFKA-19902",
        stories={
            "set-back": "{who} went back",
            "reset-to-earliest": "{who} began again at the earliest offset",
            "reset-to-latest": "{who} went on at the latest offset",
            "out-of-range": "{who} had an offset that is out of range",
        },
        rules=(
            *leads(SET_BACK, BEHIND, GROUP, LATE_MS, "from there everything has to be read again"),
            *leads(SET_BACK, ("offset-rewind",), GROUP, SOON_MS, "it commits from where it was set to"),
        ),
        alike=(
            *("unclean-election", "cut-off-leader", "truncation-gap", "topic-recreated", "undefined-epoch"),
            "commit-past-log-end",
        ),
        reproductions=(
            deleted(_POSITIONS, _because(BY_REQUEST), "below the log start, if somebody deleted the records"),
            retained(
                _POSITIONS, _because(BY_RETENTION), "below the log start, if its leader deleted segments"
            ),
        ),
    ),
)
