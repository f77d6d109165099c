"""`first-group-epoch`: with which epoch a new consumer group begins.

The first member that joins begins the next epoch. Up to 4.2 a group begins with 0, so that this member
has epoch 1 (`one`). Since 4.3 it begins with 1, and its first member has epoch 2 (`two`).
"""

from typing import Final

from ..behaviour import Behaviour

first_group_epoch: Final = Behaviour[int](
    name="first-group-epoch",
    summary="the epoch of the first member of a new consumer group",
    answers={"one": 1, "two": 2},
    history=(("0.11", "one"), ("4.3", "two")),
    ids=("KIP-848",),
)
