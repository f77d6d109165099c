"""Looks at what share groups have at the brokers of a cluster."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..protocol.share_state_log import SharePartitionKey
    from .broker import Broker
    from .led_share import LedShare
    from .share_leader import ShareLeader


def shares_of(brokers: "Iterable[Broker]") -> "Iterator[tuple[Broker, ShareLeader]]":
    """Those brokers from which share groups have read. Looking starts nothing that nobody has asked yet."""
    for broker in brokers:
        found = vars(broker).get("shares")
        if found is not None:
            yield broker, found


def led_share(brokers: "Iterable[Broker]", key: "SharePartitionKey") -> "LedShare | None":
    """A share partition at the leader that has read it."""
    for _, shares in shares_of(brokers):
        led = shares.known(key)
        if led is not None and led.current and led.share is not None:
            return led
    return None
