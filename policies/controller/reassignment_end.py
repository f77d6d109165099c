"""`reassignment-end`: which replicas have to be in sync before a reassignment ends (KIP-455).

With `all-in-sync` a reassignment does not end while a replica that stays is down or lags. With
`added-in-sync`, since 4.3, only the new replicas have to be in sync, unless there are fewer of them than of
those that are removed.
"""

from typing import Final, Literal

from ..behaviour import Switch

reassignment_end: Final = Switch[Literal["all-in-sync", "added-in-sync"]](
    name="reassignment-end",
    summary="which replicas have to be in sync before a reassignment ends",
    answers={"all-in-sync": True, "added-in-sync": False},
    history=(("0.11", "all-in-sync"), ("4.3", "added-in-sync")),
    ids=("KIP-455",),
)
