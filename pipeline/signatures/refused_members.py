"""`group-full`, `instance-id-shared`, `assignors-differ`: a classic group's coordinator refuses a member.

Clients say what they were answered. That two members have the same `group.instance.id` their coordinator logs
too: it replaces the first by the second, and refuses the first, which is still there. A static member that is
started again is only replaced: no finding.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..group_tests import FULL, ONE_INSTANCE_ID, OTHER_ASSIGNORS
from ..readers.coordinator_messages import REPLACED
from ..reproduction import Reproduction
from ..rows import SEEN, first_of, of_kinds, only_if, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_FULL: Final = "GROUP_MAX_SIZE_REACHED"
_SHARED: Final = "FENCED_INSTANCE_ID"
_DIFFER: Final = "INCONSISTENT_GROUP_PROTOCOL"
_APIS: Final = ("JoinGroup", "SyncGroup", "Heartbeat")
_REPLACED: Final = rf"^(\S+) {REPLACED}(.+)$"
_FENCED: Final = r"^Request memberId=(\S+) for static member with groupInstanceId=(.+) is fenced by"


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "refused", "member").where("time_ms is not null")
    of_client = F.col("group").isNotNull() & F.col("api").isin(*_APIS)
    told = F.col("error").isin(_FULL, _SHARED, _DIFFER) & of_client
    by_coordinator = F.col("detail").rlike(_REPLACED) | F.col("detail").rlike(_FENCED)
    rows = rows.select(*SEEN, "api").where(F.coalesce(told, F.lit(False)) | by_coordinator)
    # A broker writes some lines to two files.
    same = Window.partitionBy("kind", "group", "client", "api", "error", "time_ms", "detail")
    rows = first_of(rows, same.orderBy("file", "position")).persist()
    each = _counted(rows.where(told).withColumn("instance", F.lit(None).cast("string")))
    shared = each.where(F.col("error") == _SHARED)
    named = _counted(_fenced(rows))
    unnamed = shared.join(named.select("group").distinct(), ["group"], "left_anti")
    return _refused(each).unionByName(_shared(named.unionByName(unnamed)))


def _counted(rows: Table) -> Table:
    """For each group and error the first and the last row, and how many there are."""
    at = F.struct("time_ms", "file", "position")
    return rows.groupBy("group", "error", "instance").agg(
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
        F.count("*").alias("times"),
    )


def _fenced(rows: Table) -> Table:
    """The refusals of members that another one with the same instance id had replaced, with their group."""
    replaced = rows.where("kind = 'member'").select(
        F.col("group").alias("_group"),
        F.col("broker").alias("_broker"),
        F.regexp_extract("detail", _REPLACED, 1).alias("_member"),
        F.regexp_extract("detail", _REPLACED, 2).alias("_instance"),
    )
    fenced = rows.where("kind = 'refused' and api is null").withColumns(
        {
            "member": F.regexp_extract("detail", _FENCED, 1),
            "instance": F.regexp_extract("detail", _FENCED, 2),
        }
    )
    same = [
        F.col("broker") == F.col("_broker"),
        F.col("member") == F.col("_member"),
        F.col("instance") == F.col("_instance"),
    ]
    return fenced.join(replaced.distinct(), same).withColumn("group", F.col("_group"))


def _refused(each: Table) -> Table:
    full = F.col("error") == _FULL
    more = only_if(F.col("times") > 1, " ({times} times)")
    return findings(
        each.where(F.col("error").isin(_FULL, _DIFFER)),
        signature=F.when(full, "group-full").otherwise("assignors-differ"),
        **judged(
            If(full, CERTAIN, "its coordinator answers so only if the group is full"),
            Else(
                LIKELY, "its coordinator answers so also to members of another type, such as Kafka Connect's"
            ),
        ),
        summary=F.concat(
            sentence("a member could not join group {group}"),
            F.when(full, ", which has as many members as its brokers allow (group.max.size)").otherwise(
                ": it has no assignor in common with the members that are there"
            ),
            more,
        ),
        evidence=[seen("first"), seen("last")],
        ids=F.when(full, F.array(F.lit("KIP-389"))).otherwise(F.array().cast("array<string>")),
    )


def _shared(each: Table) -> Table:
    return findings(
        each,
        signature="instance-id-shared",
        **judged(
            If(
                F.col("instance").isNotNull(),
                CERTAIN,
                "the log of the coordinator says so: the member that another one replaced was still there",
            ),
            Else(LIKELY, "its coordinator answers so to a member that another one replaced"),
        ),
        summary=F.concat(
            sentence("two members of group {group} have the same group.instance.id"),
            only_if(F.col("instance").isNotNull(), ", {instance}"),
            sentence(": one was refused"),
            only_if(F.col("times") > 1, " ({times} times)"),
        ),
        evidence=[seen("first"), seen("last")],
        ids=["KIP-345"],
    )


_GROUP_FULL: Final = ("group-full",)
_INSTANCES: Final = ("instance-id-shared",)
_ASSIGNORS: Final = ("assignors-differ",)
SEARCH: Final = Search(
    "members that are refused",
    find,
    ("refused",),
    Signature(
        _GROUP_FULL,
        "a member could not join a classic group that has `group.max.size` members",
        known_as="KIP-389",
        stories={"group-full": "{who} was full"},
        reproductions=(
            Reproduction(
                _GROUP_FULL,
                "group.max.size below the number of members",
                "a group.max.size that is not below it",
                template=FULL,
            ),
        ),
    ),
    Signature(
        _INSTANCES,
        "two members of a classic group have the same `group.instance.id`, and put each other out",
        known_as="KIP-345",
        stories={"instance-id-shared": "{who} had two members with one instance id"},
        reproductions=(
            Reproduction(
                _INSTANCES,
                "one group.instance.id for two members",
                "a group.instance.id for each",
                template=ONE_INSTANCE_ID,
            ),
        ),
    ),
    Signature(
        _ASSIGNORS,
        "a member could not join a classic group, because it has no assignor in common with the others",
        stories={"assignors-differ": "{who} refused a member with another assignor"},
        reproductions=(
            Reproduction(
                _ASSIGNORS,
                "an assignor that the other member does not have",
                "an assignor that both have",
                template=OTHER_ASSIGNORS,
            ),
        ),
    ),
)
