"""The configuration of streams groups, which each group can have for itself (`GroupConfig.java`)."""

from typing import Final

from ...configs import Configs
from ...protocol.releases import parse

_BROKERS_COUNT_SINCE: Final = parse("4.3")
"""Before, where anything is configured for a group, the rest is Kafka's default, whatever brokers have
(`GroupCoordinatorConfig.extractGroupConfigMap`)."""


def session_ms(configs: Configs, group_id: str) -> int:
    """How long a member may be silent."""
    return _number(configs, group_id, "session.timeout.ms")


def heartbeat_ms(configs: Configs, group_id: str) -> int:
    """How often members send heartbeats."""
    return _number(configs, group_id, "heartbeat.interval.ms")


def standbys(configs: Configs, group_id: str) -> int:
    """How many standby tasks there are for each task with state."""
    return _number(configs, group_id, "num.standby.replicas")


def initial_delay_ms(configs: Configs, group_id: str) -> int:
    """How long a group without members waits for more of them when the first one joins."""
    return _number(configs, group_id, "initial.rebalance.delay.ms")


def assignment_ms(configs: Configs, group_id: str) -> int:
    """How much time is between two assignments; 0 where the release makes each at once."""
    return _number(configs, group_id, "assignment.interval.ms")


def rack_tags(configs: Configs, group_id: str) -> list[str]:
    """The client tags that members are to have; none where the release has no such configuration."""
    text = configs.groups.get(group_id, {}).get("streams.rack.aware.assignment.tags")
    broker = "group.streams.rack.aware.assignment.tags"
    if text is None and broker in configs.broker_keys:
        text = configs.broker_text(broker)
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def _number(configs: Configs, group_id: str, name: str) -> int:
    """0 if the release has no such configuration."""
    own = configs.groups.get(group_id)
    if own and (text := own.get(f"streams.{name}")) is not None:
        return int(text)
    broker = f"group.streams.{name}"
    if broker not in configs.broker_keys:
        return 0
    if own and configs.release < _BROKERS_COUNT_SINCE:
        return int(configs.broker_key(broker).default or 0)
    return configs.broker_int(broker)
