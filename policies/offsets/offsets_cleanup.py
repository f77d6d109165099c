"""`offsets-cleanup`: what the search for expired offsets does while a coordinator loads them.

With `after-load` it leaves alone what is still being loaded. With `during-load`, as in 2015 at LinkedIn, it
sees old commits whose successors were not read yet, and writes tombstones for them at the end of the log,
where the load finds them last: good offsets are gone, and OffsetFetch answers -1.
"""

from typing import Final, Literal

from ..behaviour import Switch

offsets_cleanup: Final = Switch[Literal["after-load", "during-load"]](
    name="offsets-cleanup",
    summary="whether expired offsets are looked for while a coordinator loads them",
    answers={"after-load": False, "during-load": True},
    history=(("0.11", "after-load"),),
)
