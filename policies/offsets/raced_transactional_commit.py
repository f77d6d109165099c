"""`raced-transactional-commit`: a partition's offset is committed plainly while an open transaction has
another one of it, and then the transaction is committed.

With `later-record`, as in Kafka, that offset counts whose record is later: the plain one. So it is in memory,
and after the log was loaded. With `marker`, the transaction counts, because its marker is later. With
`by-memory` the coordinator keeps the plain offset in memory, but takes that of the transaction when it loads
the log: the committed offset changes when the coordinator moves, and nobody has asked for it. That happened
with Redpanda (CORE-17000), which mended it by `marker`.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Winner(NamedTuple):
    """Whether the transaction counts, in memory and in a log that is loaded."""

    in_memory: bool
    in_log: bool


raced_transactional_commit: Final = Behaviour[Winner](
    name="raced-transactional-commit",
    summary="whether a committed transaction replaces an offset that was committed plainly after its own",
    answers={
        "later-record": Winner(False, False),
        "marker": Winner(True, True),
        "by-memory": Winner(False, True),
    },
    history=(("0.11", "later-record"),),
)
