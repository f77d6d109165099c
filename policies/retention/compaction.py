"""`compaction`: whether the log cleaner of a broker runs.

With `dead` its thread has died of an error, which nobody notices at first: compacted topics such as
`__consumer_offsets` grow without end, and keep what was replaced long ago.
"""

from typing import Final, Literal

from ..behaviour import Switch

compaction: Final = Switch[Literal["runs", "dead"]](
    name="compaction",
    summary="whether the log cleaner runs",
    answers={"runs": False, "dead": True},
    history=(("0.11", "runs"),),
)
