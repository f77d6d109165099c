"""How a producer of a history is set."""

import enum
from dataclasses import dataclass


class Generation(enum.StrEnum):
    """The release whose Java client a producer is like, as far as a broker that does not know it goes."""

    PLAIN = "plain"
    """Has no producer id."""
    V0_11 = "0.11"
    """Each error about sequences is told."""
    V1_0 = "1.0"
    """Holds the log start offset against the last offset that was acknowledged (KAFKA-5793)."""
    V2_5 = "2.5"
    """Bumps its epoch (KIP-360)."""
    V4_0 = "4.0"
    """Has the coordinator bump it with each transaction, and adds partitions by writing (KIP-890)."""


@dataclass(frozen=True, slots=True)
class ProducerSetting:
    """How a producer is set. A transactional one has acks=-1; one without a producer id has one batch in
    flight, whatever `in_flight` says."""

    generation: Generation = Generation.V2_5
    acks: int = -1
    transactional: bool = False
    transaction_timeout_ms: int = 60_000
    in_flight: int = 1
    """`max.in.flight.requests.per.connection`; more than 1 since 1.0."""
