"""`reassignment-refusal`: which brokers a reassignment may not name (KIP-455).

With `dead-brokers`, as with ZooKeeper, new replicas on brokers that are down are refused, with that
controller's error message. With `unknown-brokers` only those on brokers that never registered are refused, so
a reassignment to a broker that is down waits until it is back.
"""

from typing import Final, Literal

from ..behaviour import Switch

reassignment_refusal: Final = Switch[Literal["dead-brokers", "unknown-brokers"]](
    name="reassignment-refusal",
    summary="which brokers a reassignment may not name",
    answers={"dead-brokers": True, "unknown-brokers": False},
    history=(("0.11", "dead-brokers"), ("3.3", "unknown-brokers")),
    ids=("KIP-455",),
)
