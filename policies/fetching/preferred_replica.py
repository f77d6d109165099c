"""`preferred-replica`: which followers a leader sends consumers to (KIP-392, KAFKA-14372, KAFKA-15390).

With `replica.selector.class` set to the RackAwareReplicaSelector, a consumer that names its rack (Fetch v11+)
is told to read from a replica in that rack which has its offset. With `any-replica`, as up to 3.2, this may
be one that has left the ISR: the consumer sees the high watermark stand still for as long as that replica
lags, and is sent back to it when it asks again. Since 3.3 it has to be `in-sync`. With `fenced-too` it may
even be one whose broker is down: the consumer can't connect, or does not find the broker in Metadata. Up to
3.6 brokers with KRaft did not check this; but a fenced broker has left the ISR, so from 3.3 on it could
hardly be observed, and no release has this answer.
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[bool, bool], bool]
"""(in sync, fenced) -> whether the replica may be preferred."""


def any_replica(in_sync: bool, fenced: bool) -> bool:
    return not fenced


def in_sync(in_sync: bool, fenced: bool) -> bool:
    return in_sync and not fenced


def fenced_too(in_sync: bool, fenced: bool) -> bool:
    return True


preferred_replica: Final = Behaviour[Answer](
    name="preferred-replica",
    summary="which replicas in the consumer's rack it may be sent to",
    answers={"any-replica": any_replica, "in-sync": in_sync, "fenced-too": fenced_too},
    history=(("0.11", "any-replica"), ("3.3", "in-sync")),
    ids=("KIP-392", "KAFKA-14372", "KAFKA-15390"),
)
