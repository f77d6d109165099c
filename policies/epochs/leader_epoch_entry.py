"""`leader-epoch-entry`: when a new leader enters its epoch into its cache (KIP-279).

A client that asks a new leader for its own epoch before anything was written gets the log end offset with
`at-election`, and (-1, -1) with `at-append`, as 0.11 and 1.x answered; these also keep an epoch that wrote
nothing when the next one starts at the same offset.
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
