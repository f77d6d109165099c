"""The configuration of the group coordinator (`GroupCoordinatorConfig.java`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..configs import Configs

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60 * 1000
"""How long a member that was never in a generation may wait for its first one."""


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Times in ms; `offset_metadata_max` in UTF-16 units, as in Java."""

    initial_rebalance_delay_ms: int
    min_session_timeout_ms: int
    max_session_timeout_ms: int
    max_size: int
    offset_metadata_max: int
    offsets_retention_ms: int
    retention_check_interval_ms: int

    @classmethod
    def of(cls, configs: "Configs") -> "GroupSettings":
        return cls(
            initial_rebalance_delay_ms=configs.broker_int("group.initial.rebalance.delay.ms"),
            min_session_timeout_ms=configs.broker_int("group.min.session.timeout.ms"),
            max_session_timeout_ms=configs.broker_int("group.max.session.timeout.ms"),
            max_size=configs.broker_int("group.max.size"),
            offset_metadata_max=configs.broker_int("offset.metadata.max.bytes"),
            offsets_retention_ms=configs.broker_int("offsets.retention.minutes") * 60 * 1000,
            retention_check_interval_ms=configs.broker_int("offsets.retention.check.interval.ms"),
        )
