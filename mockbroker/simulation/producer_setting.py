"""The settings of model producers."""

import enum
from dataclasses import dataclass


class Generation(enum.StrEnum):
    """The release whose Java client a producer behaves like when a broker does not know its producer id."""

    PLAIN = "plain"
    """Has no producer id: it is not idempotent."""
    V0_11 = "0.11"
    """Reports every error about sequence numbers to its application."""
    V1_0 = "1.0"
    """Compares the log start offset in the answer with its last acknowledged offset, to tell whether records
    were lost or only deleted (KAFKA-5793)."""
    V2_5 = "2.5"
    """Bumps its epoch, and goes on (KIP-360)."""
    V4_0 = "4.0"
    """Has its epoch bumped by the coordinator with each transaction, and adds partitions to the transaction
    by writing to them (KIP-890)."""


@dataclass(frozen=True, slots=True)
class ProducerSetting:
    """A producer's settings. A transactional producer has acks=-1; one without a producer id has one batch in
    flight, whatever `in_flight` says."""

    generation: Generation = Generation.V2_5
    acks: int = -1
    transactional: bool = False
    transaction_timeout_ms: int = 60_000
    in_flight: int = 1
    """`max.in.flight.requests.per.connection`; more than 1 since 1.0."""
