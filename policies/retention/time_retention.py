"""`time-retention`: by which age `retention.ms` and `segment.ms` go (KIP-33).

All releases here go by the timestamps of records. Before KIP-33 a segment was as old as its file: a slow
topic with a single segment, which never rolled and was appended to now and then, kept records for months, and
an offset committed long ago could still be consumed from.
"""

from typing import Final, Literal

from ..behaviour import Switch

time_retention: Final = Switch[Literal["record-time", "file-time"]](
    name="time-retention",
    summary="whether segments roll and expire by the timestamps of records, or by when they were written",
    answers={"record-time": False, "file-time": True},
    history=(("0.11", "record-time"),),
    ids=("KIP-32", "KIP-33"),
)
