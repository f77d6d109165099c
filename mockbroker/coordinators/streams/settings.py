"""The configuration of streams groups, which each group can have for itself (`GroupConfig.java`)."""

from ...configs import Configs


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
    return configs.broker_int(broker) if broker in configs.broker_keys else 0
