"""`client-throttled`: brokers let a client wait, because a quota of its bytes or requests is used up.

What it reads or writes is late; a producer may give its records up, although they are written. Java's clients
say since 4.4 that they wait; other clients don't, and brokers log nothing of it.
"""

from collections.abc import Sequence
from typing import Final

from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..readers.denial_messages import THROTTLED, TIMED_OUT
from ..rows import SEEN, first_of, of_kinds, only_if, prefixed, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
"""Whoever waits for less in all is no finding."""
_SKEW_MS: Final = 10_000
_OF_CLIENTS: Final = r"^client-id=([^,]+): (\w+) = (\S+)$"
"""A quota of users may be that of the client, or not."""
_DEFAULT: Final = "default"
_OF_PRODUCERS: Final = ("producer_byte_rate", "request_percentage")
_ANY: Final = (*_OF_PRODUCERS, "consumer_byte_rate", "controller_mutation_rate")
_NOT_SAID: Final = "a client that does not say that it waits can't be told from one that nobody answers"
_JUST_MS: Final = 600_000
"""What times out so soon after a quota was set most likely does so because of that."""
_NAMES: Final = ("client-throttled",)


def find(observations: Table) -> Table:
    return _told(observations).unionByName(_timed_out(observations))


def _told(observations: Table) -> Table:
    """Of clients that say so."""
    runs = (
        _complaints(observations, THROTTLED)
        .groupBy("client", "group", "file")
        .agg(
            F.min("time_ms").alias("since_ms"),
            F.count("position").alias("times"),
            F.sum(F.col("detail").cast("bigint")).alias("waited_ms"),
            *_ends(),
        )
    )
    runs = runs.where(F.col("waited_ms") >= _LASTS_MS).persist()
    return findings(
        _with_quota(runs, observations),
        signature=_NAMES[0],
        **judged(
            If(
                F.col("act").isNotNull(),
                CERTAIN,
                "the log of the controller has the quota, and its log says so",
            ),
            Else(LIKELY, "its log says so; the quota is not among the files"),
        ),
        summary=F.concat(
            sentence(
                "client {client} was throttled {times} times, and had to wait {waited} s in all",
                waited=F.floor(F.col("waited_ms") / 1000).cast("bigint"),
            ),
            only_if(F.col("group").isNotNull(), "; it is a member of group {group}"),
            only_if(F.col("act").isNotNull(), "; {quota} of client id {named} was set to {value}"),
        ),
        evidence=[F.col("act"), seen("first"), seen("last")],
        ids=["KIP-13", "KIP-219"],
    )


def _timed_out(observations: Table) -> Table:
    """Of producers whose records were not acknowledged in time after a quota had been set, by the log of the
    client or of its application."""
    runs = (
        _complaints(observations, TIMED_OUT)
        .groupBy("client", "group")
        .agg(
            F.min("file").alias("file"),
            F.min("time_ms").alias("since_ms"),
            F.max("time_ms").alias("until_ms"),
            *_ends(),
        )
    )
    runs = runs.where(F.col("until_ms") - F.col("since_ms") >= _LASTS_MS).persist()
    runs = _with_quota(runs, observations, _OF_PRODUCERS).where(F.col("act").isNotNull())
    took = F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint")
    return findings(
        runs,
        signature=_NAMES[0],
        **judged(
            If(
                (F.col("general") == 0) & (F.col("ago") <= _JUST_MS),
                LIKELY,
                f"the quota of its client id was set just before; {_NOT_SAID}",
            ),
            Else(POSSIBLE, f"there is a quota that it may have used up; {_NOT_SAID}"),
        ),
        summary=sentence(
            "records of client {client} were not acknowledged in time for {took} s, and may be written all "
            "the same; {quota} of client id {named} was set to {value}",
            took=took,
        ),
        evidence=[F.col("act"), seen("first"), seen("last")],
        ids=["KIP-13", "KIP-219"],
    )


def _complaints(observations: Table, error: str) -> Table:
    rows = of_kinds(observations, "complaint").where("client is not null and time_ms is not null")
    return rows.where(F.coalesce(F.col("error") == error, F.lit(False))).select(*SEEN)


def _ends() -> tuple[Column, Column]:
    """The first and the last row of a group."""
    at = F.struct("time_ms", "file", "position")
    return F.min_by(row(), at).alias("first"), F.max_by(row(), at).alias("last")


def _with_quota(runs: Table, observations: Table, only: Sequence[str] = _ANY) -> Table:
    """With the last quota of its client id, or of all, that was set before (`act`)."""
    quotas = of_kinds(observations, "quota").where("time_ms is not null")
    quotas = quotas.where(F.col("detail").rlike(_OF_CLIENTS))
    parts = {name: F.regexp_extract("detail", _OF_CLIENTS, nth) for nth, name in enumerate(_PARTS, 1)}
    quotas = prefixed(quotas.withColumns(parts), "_", "time_ms", *_PARTS, act=seen())
    quotas = quotas.where(F.col("_quota").isin(*only))
    quotas = quotas.select("_time_ms", "act", *(F.col(f"_{name}").alias(name) for name in _PARTS))
    own = (F.col("named") == F.col("client")) | (F.col("named") == _DEFAULT)
    found = runs.join(quotas, [own, F.col("_time_ms") <= F.col("since_ms") + _SKEW_MS], "left")
    found = found.withColumns(
        {
            "general": F.when(F.col("named") == _DEFAULT, 1).otherwise(0),
            "ago": F.col("since_ms") - F.col("_time_ms"),
        }
    )
    nearest = Window.partitionBy("client", "group", "file").orderBy("general", "ago", "act.file")
    found = first_of(found, nearest)
    return found.withColumn("act", F.when(F.col("value") != "none", F.col("act")))


_PARTS: Final = ("named", "quota", "value")
SEARCH: Final = Search(
    "clients that were throttled",
    find,
    ("complaint",),
    Signature(
        _NAMES,
        "a client had to wait again and again, because of a quota of its client id: what it reads or writes "
        "is late, or is given up",
        known_as="KIP-13",
        stories={"client-throttled": "{who} was throttled"},
        unshown="what is late is read in the end: how late is too late only the application knows",
    ),
)
