"""`offsets-load-buffers`: a coordinator loads a log that is larger than `offsets.load.buffer.size`.

With `merged` the last record of each offset and of each group counts, wherever it is. With `first-counts`, as
in 0.11.0.0, a group counts as loaded at the end of the first buffer that has a record of it, and what later
buffers say about it is dropped: OffsetFetch answers old offsets (KAFKA-5600). 0.11 stands for 0.11.0.3, which
does not do that.
"""

from typing import Final, Literal

from ..behaviour import Switch

offsets_load_buffers: Final = Switch[Literal["merged", "first-counts"]](
    name="offsets-load-buffers",
    summary="whether a load drops what it reads of a group in later buffers",
    answers={"merged": False, "first-counts": True},
    history=(("0.11", "merged"),),
    ids=("KAFKA-5600",),
)
