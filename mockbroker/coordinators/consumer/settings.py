"""The configuration of consumer groups, which each group can have for itself (`GroupConfig.java`)."""

from typing import NamedTuple

from ...configs import Configs


class Intervals(NamedTuple):
    """In ms; `assignment_ms` is 0 where the release makes every assignment at once."""

    session_ms: int
    heartbeat_ms: int
    assignment_ms: int


def intervals(configs: Configs, group_id: str) -> Intervals:
    overrides = configs.groups.get(group_id, {})

    def number(name: str) -> int:
        own = overrides.get(f"consumer.{name}")
        return configs.broker_int(f"group.consumer.{name}") if own is None else int(own)

    waits = "group.consumer.assignment.interval.ms" in configs.broker_keys
    return Intervals(
        number("session.timeout.ms"),
        number("heartbeat.interval.ms"),
        number("assignment.interval.ms") if waits else 0,
    )


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
