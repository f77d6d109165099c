"""`start-behind-log-start`: whether a share group's start offset can move back (KAFKA-19859).

If the log start comes to lie in a batch that is in flight, records below it may still be acquired. When the
record at the start offset is done then, brokers of 4.1 look for the first one that is not, from the beginning
of the batch: the start offset moves back to a record that is not there any more. Since 4.2 it does not.
"""

from typing import Final, Literal

from ..behaviour import Switch

start_behind_log_start: Final = Switch[Literal["moves-back", "stays"]](
    name="start-behind-log-start",
    summary="whether the start offset of a share group can move back behind the log start",
    answers={"moves-back": True, "stays": False},
    history=(("0.11", "moves-back"), ("4.2", "stays")),
    ids=("KAFKA-19859",),
    fixed="stays",
)
