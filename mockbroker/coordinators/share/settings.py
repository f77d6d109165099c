"""The configuration of share groups, which each group can have for itself (`GroupConfig.java`)."""

from ...configs import Configs
from ...share_partitions.flight import ShareLimits


def session_ms(configs: Configs, group_id: str) -> int:
    """How long a member may be silent."""
    return _number(configs, group_id, "session.timeout.ms")


def heartbeat_ms(configs: Configs, group_id: str) -> int:
    """How often members send heartbeats."""
    return _number(configs, group_id, "heartbeat.interval.ms")


def assignment_ms(configs: Configs, group_id: str) -> int:
    """How much time is between two assignments; 0 where the release makes each at once."""
    if "group.share.assignment.interval.ms" not in configs.broker_keys:
        return 0
    return _number(configs, group_id, "assignment.interval.ms")


def _number(configs: Configs, group_id: str, name: str) -> int:
    own = configs.groups.get(group_id)
    if own and (text := own.get(f"share.{name}")) is not None:
        return int(text)
    return configs.broker_int(f"group.share.{name}")


def limits(configs: Configs, group_id: str, *, sets_aside: bool = False) -> ShareLimits:
    """How often records of the group are delivered, how long they are locked, how many at once, and whether
    locks are renewed."""
    return ShareLimits(
        _number(configs, group_id, "delivery.count.limit"),
        lock_ms(configs, group_id),
        _number(configs, group_id, "partition.max.record.locks"),
        renews(configs, group_id),
        sets_aside,
    )


def lock_ms(configs: Configs, group_id: str) -> int:
    """How long records are locked that a member has acquired."""
    return _number(configs, group_id, "record.lock.duration.ms")


def reads_committed(configs: Configs, group_id: str) -> bool:
    """Whether the group leaves out what transactions have not committed."""
    return _own(configs, group_id, "isolation.level", "read_uncommitted") == "read_committed"


def offset_reset(configs: Configs, group_id: str) -> str:
    """Where the group begins to read a partition."""
    return _own(configs, group_id, "auto.offset.reset", "latest")


def renews(configs: Configs, group_id: str) -> bool:
    """Whether members may renew their locks."""
    return _own(configs, group_id, "renew.acknowledge.enable", "true").lower() == "true"


def dead_letter_topic(configs: Configs, group_id: str) -> str:
    """Where records go that are archived; empty if nowhere."""
    own = configs.groups.get(group_id) or {}
    return own.get("errors.deadletterqueue.topic.name", "")


def copies_records(configs: Configs, group_id: str) -> bool:
    """Whether dead letters have the records' keys and values."""
    own = configs.groups.get(group_id) or {}
    return own.get("errors.deadletterqueue.copy.record.enable", "false").lower() == "true"


def _own(configs: Configs, group_id: str, name: str, default: str) -> str:
    own = configs.groups.get(group_id) or {}
    return own.get(f"share.{name}", default)
