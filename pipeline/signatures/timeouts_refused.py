"""`transaction-timeout-refused`, `session-timeout-refused`: a client asks for more time than brokers allow.

Its coordinator refuses it whenever it is started: transaction.max.timeout.ms is a quarter of an hour by
default, where Flink's sink asks for an hour; a session lasts half an hour at most, and six seconds at least.
"""

from typing import Final

from ..findings import CERTAIN, findings
from ..readers.refusal_messages import SESSION_TIMEOUT, TRANSACTION_TIMEOUT
from ..rows import SEEN, of_kinds, only_if, row, seen
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_ERRORS: Final = (TRANSACTION_TIMEOUT, SESSION_TIMEOUT)
_TRANSACTION: Final = ("transaction-timeout-refused",)
_SESSION: Final = ("session-timeout-refused",)


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "refused").where("time_ms is not null")
    rows = rows.where(F.coalesce(F.col("error").isin(*_ERRORS), F.lit(False)))
    rows = rows.select(*SEEN, "transactional_id")
    rows = rows.withColumn("told", F.coalesce("transactional_id", "group", "client"))
    at = F.struct("time_ms", "file", "position")
    each = rows.groupBy("error", "told").agg(
        F.max("transactional_id").alias("transactional_id"),
        F.max("group").alias("group"),
        F.max("client").alias("client"),
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
        F.count("*").alias("times"),
    )
    of_transaction = F.col("error") == TRANSACTION_TIMEOUT
    named, grouped = F.col("transactional_id").isNotNull(), F.col("group").isNotNull()
    return findings(
        each,
        signature=F.when(of_transaction, *_TRANSACTION).otherwise(*_SESSION),
        confidence=CERTAIN,
        why="its coordinator answers so only if that is so",
        summary=F.concat(
            only_if(of_transaction & named, "the producer of transactional id {transactional_id}"),
            only_if(of_transaction & ~named & F.col("client").isNotNull(), "the producer of client {client}"),
            only_if(of_transaction & ~named & F.col("client").isNull(), "a producer"),
            only_if(~of_transaction & grouped, "a member of group {group}"),
            only_if(~of_transaction & ~grouped, "a member of a group"),
            F.when(
                of_transaction,
                " was refused, since its transaction.timeout.ms is longer than brokers allow "
                "(transaction.max.timeout.ms)",
            ).otherwise(
                " was refused, since its session.timeout.ms is not between group.min.session.timeout.ms and "
                "group.max.session.timeout.ms"
            ),
            only_if(F.col("times") > 1, " ({times} times)"),
        ),
        evidence=[seen("first"), seen("last")],
    )


SEARCH: Final = Search(
    "timeouts that brokers don't allow",
    find,
    ("refused",),
    Signature(
        _TRANSACTION,
        "a producer asks for a longer `transaction.timeout.ms` than `transaction.max.timeout.ms` is",
        stories={_TRANSACTION[0]: "{who} asked for a transaction timeout that brokers don't allow"},
        unshown="a setting of an application, which a test of its own has to have",
    ),
    Signature(
        _SESSION,
        "a member asks for a `session.timeout.ms` that brokers don't allow",
        stories={_SESSION[0]: "{who} asked for a session timeout that brokers don't allow"},
        unshown="a setting of an application, which a test of its own has to have",
    ),
)
