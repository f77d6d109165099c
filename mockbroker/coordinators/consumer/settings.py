"""The configuration of consumer groups, which each group can have for itself (`GroupConfig.java`)."""

import enum

from ...configs import Configs


class Migration(enum.Enum):
    """`group.consumer.migration.policy`: whether a classic group becomes a consumer group (up) once a member
    of the consumer protocol joins, and a classic one again (down) once the last of those is gone."""

    DISABLED = (False, False)
    UPGRADE = (True, False)
    DOWNGRADE = (False, True)
    BIDIRECTIONAL = (True, True)

    @property
    def up(self) -> bool:
        return self.value[0]

    @property
    def down(self) -> bool:
        return self.value[1]


def session_ms(configs: Configs, group_id: str) -> int:
    """How long a member may be silent."""
    return _number(configs, group_id, "session.timeout.ms")


def heartbeat_ms(configs: Configs, group_id: str) -> int:
    """How often members send heartbeats."""
    return _number(configs, group_id, "heartbeat.interval.ms")


def assignment_ms(configs: Configs, group_id: str) -> int:
    """How much time is between two assignments; 0 where the release makes each at once."""
    if "group.consumer.assignment.interval.ms" not in configs.broker_keys:
        return 0
    return _number(configs, group_id, "assignment.interval.ms")


def _number(configs: Configs, group_id: str, name: str) -> int:
    own = configs.groups.get(group_id)
    if own and (text := own.get(f"consumer.{name}")) is not None:
        return int(text)
    return configs.broker_int(f"group.consumer.{name}")


def migration(configs: Configs) -> Migration:
    return Migration[(configs.broker_text("group.consumer.migration.policy") or "disabled").upper()]


def served(configs: Configs) -> bool:
    """Whether brokers serve consumer groups, as by default since 4.0."""
    protocols = configs.broker_text("group.coordinator.rebalance.protocols") or ""
    return "consumer" in (each.strip() for each in protocols.split(","))


def assignors(configs: Configs) -> list[str]:
    """The names in `group.consumer.assignors`, the default first. Those of 3.x are names of classes."""
    names = (configs.broker_text("group.consumer.assignors") or "").split(",")
    return [
        each.strip().rpartition(".")[2].removesuffix("Assignor").lower() for each in names if each.strip()
    ]
