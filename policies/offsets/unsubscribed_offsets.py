"""`unsubscribed-offsets`: committed offsets of topics that no member subscribes to (KIP-496, KAFKA-13636).

While a group has members a client sees its offsets stay. Those of topics that nobody in it subscribes to any
more go `offsets.retention.minutes` after their commit since 2.4; before, they were `kept` as long as there
were members. Since 2.8 that is so `while-stable` only. From 2.4 to 2.7 it was so `with-members`, even while
these were still joining a group that had been empty, with subscriptions yet to be known: then all offsets
older than that were gone.
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[bool], bool]
"""(whether the group is stable) -> whether such offsets may expire."""


def kept(stable: bool) -> bool:
    return False


def with_members(stable: bool) -> bool:
    return True


def while_stable(stable: bool) -> bool:
    return stable


unsubscribed_offsets: Final = Behaviour[Answer](
    name="unsubscribed-offsets",
    summary="when offsets of topics nobody subscribes to expire in a group with members",
    answers={"kept": kept, "with-members": with_members, "while-stable": while_stable},
    history=(("0.11", "kept"), ("2.4", "with-members"), ("2.8", "while-stable")),
    ids=("KIP-496", "KAFKA-13636"),
)
