"""`unsubscribed-offsets`: committed offsets of topics that no member subscribes to (KIP-496, KAFKA-13636).

While a group has members, the offsets of topics that they subscribe to do not expire. Up to 2.3 the offsets
of all other topics are `kept` for that time as well. Since 2.4 those expire `offsets.retention.minutes` after
their commit: since 2.8 only `while-stable`, that is while the group is stable; from 2.4 to 2.7 always
`with-members`, even while members are still joining a group that was empty and their subscriptions are not
known yet, so that all offsets older than that are lost.
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
    summary="when offsets of topics that no member subscribes to expire",
    answers={"kept": kept, "with-members": with_members, "while-stable": while_stable},
    history=(("0.11", "kept"), ("2.4", "with-members"), ("2.8", "while-stable")),
    ids=("KIP-496", "KAFKA-13636"),
)
