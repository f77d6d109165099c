"""The configuration of the transaction coordinator (`TransactionStateManagerConfig.java`)."""

from dataclasses import dataclass

from ..environment import Environment
from ..policies.transactions.epoch_bump import epoch_bump
from ..policies.transactions.last_epoch import last_epoch
from ..protocol.releases import facts
from ..protocol.transaction_log import Layout


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Times in ms. `version` is the level of the feature `transaction.version`, 0 if there is none."""

    max_timeout_ms: int
    timeout_check_interval_ms: int
    expiration_ms: int
    expiration_check_interval_ms: int
    request_timeout_ms: int
    markers_delay_ms: int
    version: int
    layout: Layout

    @classmethod
    def of(cls, environment: Environment) -> "TransactionSettings":
        number = environment.configs.broker_int
        version = transaction_version(environment)
        layout = Layout.V1 if version else Layout.V0
        if environment.policies[last_epoch] == "persisted":
            layout = Layout.KIP_360
        return cls(
            max_timeout_ms=number("transaction.max.timeout.ms"),
            timeout_check_interval_ms=number("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            expiration_ms=number("transactional.id.expiration.ms"),
            expiration_check_interval_ms=number("transaction.remove.expired.transaction.cleanup.interval.ms"),
            request_timeout_ms=number("request.timeout.ms"),
            markers_delay_ms=number("mockbroker.transaction.markers.delay.ms"),
            version=version,
            layout=layout,
        )


def transaction_version(environment: Environment) -> int:
    """The finalized level of `transaction.version`: 2 if epochs are bumped per transaction, else 1; 0 if the
    release has no such feature (KIP-584, KIP-890)."""
    if "transaction.version" not in facts(environment.release).finalized_features:
        return 0
    return 2 if environment.policies[epoch_bump].per_transaction else 1
