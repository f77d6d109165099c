"""`applications-share-a-group`: applications that read different topics are members of one group.

A member that assigns partitions for all of them, and knows only its own topics, gives some of these to
members that don't read them: nobody does. KafkaJS says so at the member that is given them. A new release of
an application that reads other topics leaves the same for a moment.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..readers.js_and_go_messages import UNSUBSCRIBED
from ..rows import of_kinds, only_if, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F


def find(observations: Table) -> Table:
    told = of_kinds(observations, "complaint").where("group is not null and topic is not null")
    told = told.where(F.col("detail").endswith(UNSUBSCRIBED))
    at = F.struct("time_ms", "file", "position")
    each = told.groupBy("group", "topic").agg(
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
        F.count("*").alias("times"),
    )
    return findings(
        each,
        signature="applications-share-a-group",
        confidence=LIKELY,
        why="a member says which topic it was given partitions of, and that it does not read that topic",
        summary=F.concat(
            sentence(
                "a member of group {group} was given partitions of {topic}, which it does not read: members "
                "of the group read different topics, and nobody reads these partitions"
            ),
            only_if(F.col("times") > 1, " ({times} times)"),
        ),
        evidence=[seen("first"), seen("last")],
    )


SEARCH: Final = Search(
    "applications that share a group",
    find,
    ("complaint",),
    Signature(
        ("applications-share-a-group",),
        "members of one group read different topics, and are given partitions that they don't read",
        stories={"applications-share-a-group": "{who} had members that read different topics"},
        unshown="only KafkaJS' members are given what they don't read",
    ),
)
