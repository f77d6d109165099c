"""`share-offsets-reset` and `delivery-limit-reached`: what became of a share group's records, by its state.

Whoever sets the offset of a share group makes its state anew: a whole state without any state of records. A
leader says of a record that it is given for the last time, unless the limit is 2, and the state that it is
archived then; a member may have rejected it at last, which looks the same.
"""

from typing import Final

from ..findings import LIKELY, POSSIBLE, Else, If, findings, judged
from ..ledgers import OR_REJECTED
from ..readers.share_states import DELETED, KIND, LIMIT, SET_LIMIT, WARNING, WHOLE
from ..reproduction import Reproduction
from ..rows import (
    PARTITION,
    case,
    first_of,
    in_order,
    log,
    of_kinds,
    only_if,
    place,
    prefixed,
    same,
    seen,
    sentence,
    set_of_group,
    up_to,
)
from ..share_tests import SET_ELSEWHERE, WORN
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_KEY: Final = ("group", *PARTITION)
_ARCHIVED: Final = r"^(\d+)-(\d+) archived (\d+)$"


def find(observations: Table) -> Table:
    states = of_kinds(observations, KIND).where("group is not null and time_ms is not null")
    states = states.withColumns({"log": log(), "seen": seen()}).persist()
    return _reset(states).unionByName(_worn(states, observations))


def _reset(states: Table) -> Table:
    window = in_order("log", *_KEY)
    anew = F.col("detail") == WHOLE
    rows = states.withColumn("nth", F.count(F.when(anew, 1)).over(up_to(window)))
    here = in_order("log", *_KEY, "nth")
    reached = F.greatest(F.coalesce("offset", F.lit(-1)), F.coalesce("end_offset", F.lit(-1)))
    rows = rows.withColumn("reached", F.max(reached).over(up_to(here)))
    rows = rows.withColumns(
        {
            "from": F.lag("reached").over(window),
            "was": F.lag("seen").over(window),
            "deleted": F.lag("detail").over(window) == DELETED,
        }
    )
    # One that was never read has nothing to be set from, and one that was deleted begins anew.
    rows = rows.where(anew & (F.col("offset") >= 0) & (F.col("from") >= 0))
    rows = rows.where(~F.coalesce("deleted", F.lit(False)))
    rows = first_of(
        rows.where(F.col("offset") != F.col("from")),
        Window.partitionBy(*_KEY, "time_ms").orderBy("file", "position"),
    )
    return findings(
        rows,
        signature="share-offsets-reset",
        confidence=LIKELY,
        why="its state was made anew then, as when somebody resets offsets (kafka-share-groups "
        "--reset-offsets)",
        summary=sentence(
            "the start offset of share group {group} in {at} was set {how} from {from} to {offset}",
            at=place(),
            how=case((F.col("offset") < F.col("from"), F.lit("back")), otherwise=F.lit("on")),
        ),
        evidence=[F.col("was"), F.col("seen")],
        ids=["KIP-932"],
    )


def _worn(states: Table, observations: Table) -> Table:
    def told(number: int) -> Column:
        return F.regexp_extract("part", _ARCHIVED, number).cast("bigint")

    gone = states.where(F.col("detail").like("% archived %"))
    gone = gone.withColumn("part", F.explode(F.split("detail", ", "))).where(F.col("part").rlike(_ARCHIVED))
    gone = gone.withColumns({"first": told(1), "last": told(2), "times": told(3)})
    since = [F.col("group") == F.col("s_group"), F.col("s_time_ms") <= F.col("time_ms")]
    gone = first_of(
        gone.join(_limits(observations), since, "left"),
        Window.partitionBy(*_KEY, "file", "position", "first").orderBy("s_time_ms").reversed,
    )
    limit = F.coalesce("s_limit", F.lit(LIMIT))
    gone = gone.withColumn("lowered", F.coalesce(F.col("s_limit") < F.col("s_was"), F.lit(False)))
    warned = of_kinds(observations, WARNING).where("group is not null and offset is not null")
    warned = prefixed(warned, "w_", *_KEY, "offset", "time_ms", warning=seen())
    of_it = [
        *same("w_", _KEY),
        F.col("w_offset") >= F.col("first"),
        F.col("w_offset") <= F.col("last"),
    ]
    rows = gone.join(warned, of_it, "left")
    rows = rows.where((F.col("times") >= limit) | F.col("warning").isNotNull())
    rows = first_of(
        rows, Window.partitionBy(*_KEY, "first", "last").orderBy("time_ms", "file", "position", "w_time_ms")
    )
    return findings(
        rows,
        signature="delivery-limit-reached",
        **judged(
            If(
                F.col("warning").isNotNull(),
                LIKELY,
                "the leader says that it was given for the last time; a member may have rejected it then",
            ),
            If(
                F.col("lowered"),
                LIKELY,
                "it was given as often as the group allows since somebody lowered that; a member may have "
                "rejected it then",
            ),
            If(
                F.col("s_limit").isNotNull(),
                POSSIBLE,
                "it was given as often as the group allows; a member may have rejected it then",
            ),
            Else(POSSIBLE, "it was given as often as is usual at most; a member may have rejected it then"),
        ),
        summary=sentence(
            f"share group {{group}} gave up, {OR_REJECTED}, {{what}} of {{at}} after {{times}} deliveries"
            "{lowered}",
            at=place(),
            what=case(
                (F.col("first") == F.col("last"), sentence("the record at offset {first}")),
                otherwise=sentence("the records at offsets {first} to {last}"),
            ),
            lowered=only_if(
                F.col("lowered"),
                "; {ago} ms before, somebody had lowered share.delivery.count.limit of the group from "
                "{s_was} to {s_limit}",
                ago=F.col("time_ms") - F.col("s_time_ms"),
            ),
        ),
        evidence=[F.when(F.col("lowered"), F.col("set")), F.col("warning"), F.col("seen")],
        ids=["KIP-932"],
    )


def _limits(observations: Table) -> Table:
    """When groups' limits changed: every broker tells what is set of a group, and again when it starts."""
    settings = observations.where(set_of_group() & F.col("time_ms").isNotNull())
    told = F.nullif(F.regexp_extract("detail", SET_LIMIT, 1), F.lit("")).cast("bigint")
    settings = settings.withColumns({"limit": F.coalesce(told, F.lit(LIMIT)), "set": seen()})
    was = F.lag("limit").over(in_order("group"))
    settings = settings.withColumn("was", F.coalesce(was, F.lit(LIMIT)))
    changed = settings.where(F.col("limit") != F.col("was"))
    return prefixed(changed, "s_", "group", "time_ms", "limit", "was", set=F.col("set"))


_RESET: Final = ("share-offsets-reset",)
_REACHED: Final = ("delivery-limit-reached",)
SEARCH: Final = Search(
    "states of share groups",
    find,
    (KIND,),
    Signature(
        _RESET,
        "somebody set a share group's offset back, or on (`kafka-share-groups --reset-offsets`)",
        known_as="KIP-932",
        stories={"share-offsets-reset": "{who} was set elsewhere by an operator"},
        reproductions=(
            Reproduction(
                _RESET,
                "an offset that is set elsewhere",
                "an offset that is set to where the group is",
                template=SET_ELSEWHERE,
                kafka="4.4",
            ),
        ),
    ),
    Signature(
        _REACHED,
        "a share group gave up a record when it had been given as often as the group allows, or a member "
        "rejected it then",
        known_as="KIP-932",
        stories={"delivery-limit-reached": f"{{who}} gave up, {OR_REJECTED}, a record"},
        reproductions=(
            Reproduction(
                _REACHED,
                "a delivery count limit below the attempts that records take, released or rejected at last",
                "a delivery count limit that is not below them",
                template=WORN,
                kafka="4.4",
            ),
        ),
    ),
)
