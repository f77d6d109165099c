"""`leader-epoch-entry`: when a new leader enters its epoch into its cache (KIP-279).

A client that asks a new leader for the end of its own epoch before anything was written in it gets the log
end offset with `at-election`, and (-1, -1) with `at-append`, as in 0.11 and 1.x. These also keep an epoch in
which nothing was written when the next one starts at the same offset.
"""

from typing import Final, Literal

from ..behaviour import Switch

leader_epoch_entry: Final = Switch[Literal["at-append", "at-election"]](
    name="leader-epoch-entry",
    summary="whether a leader enters its epoch at its first append or when it is elected",
    answers={"at-append": True, "at-election": False},
    history=(("0.11", "at-append"), ("2.0", "at-election")),
    ids=("KIP-279",),
)
