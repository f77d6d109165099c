"""The configuration of the transaction coordinator (`TransactionStateManagerConfig.java`)."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..environment import Environment
from ..policies import Policies
from ..policies.transactions.last_epoch import last_epoch
from ..protocol.transaction_log import Layout
from .transaction_version import transaction_version


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Times in ms."""

    max_timeout_ms: int
    timeout_check_interval_ms: int
    expiration_ms: int
    expiration_check_interval_ms: int
    request_timeout_ms: int
    markers_delay_ms: int

    @classmethod
    def of(cls, environment: Environment) -> "TransactionSettings":
        number = environment.configs.broker_int
        return cls(
            max_timeout_ms=number("transaction.max.timeout.ms"),
            timeout_check_interval_ms=number("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            expiration_ms=number("transactional.id.expiration.ms"),
            expiration_check_interval_ms=number("transaction.remove.expired.transaction.cleanup.interval.ms"),
            request_timeout_ms=number("request.timeout.ms"),
            markers_delay_ms=number("mockbroker.transaction.markers.delay.ms"),
        )


def written_layout(policies: Policies, features: Mapping[str, int]) -> Layout:
    """The form in which values are written."""
    if policies[last_epoch] == "persisted":
        return Layout.KIP_360
    return Layout.V1 if transaction_version(policies, features) else Layout.V0


def read_layout(policies: Policies) -> Layout:
    """The form of values of version 1."""
    return Layout.KIP_360 if policies[last_epoch] == "persisted" else Layout.V1
