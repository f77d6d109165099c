"""Why members of streams groups get no tasks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ..coordinators.member_state import MemberState
from ..coordinators.streams.configuring import (
    INCORRECTLY_PARTITIONED_TOPICS,
    MISSING_INTERNAL_TOPICS,
    MISSING_SOURCE_TOPICS,
)
from ..coordinators.streams.member import each_task
from ..coordinators.streams.settings import heartbeat_ms, initial_delay_ms

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..coordinators.streams.group import StreamsGroup
    from ..coordinators.streams.member import StreamsMember

_ADVICE: Final = {
    MISSING_SOURCE_TOPICS: "brokers create only internal topics: create the others",
    INCORRECTLY_PARTITIONED_TOPICS: "topics that are read together need as many partitions as each other; "
    "internal topics of an earlier topology have to be deleted",
    MISSING_INTERNAL_TOPICS: "its coordinator creates them upon heartbeats",
}
_SHOWN: Final = 10
"""How many tasks are named at most."""
_HEARTBEATS: Final = 3
"""Within so many a member should have given up what it has to."""


def streams_group(broker: "Broker", group: "StreamsGroup") -> Iterator[str]:
    """Of a group that has members, and its coordinator."""
    name = f"the streams group {group.id!r}"
    if group.shutdown_by is not None:
        yield (
            f"the member {group.shutdown_by} of {name} has asked for all instances to shut down, and each "
            "heartbeat tells them so until the group has no members"
        )
    if found := broker.groups.streams.planning.problem(group):
        problem, known = found
        failures = broker.streams_topics.failures(known.missing)
        failed = "".join(f"; {topic} could not be created: {why}" for topic, why in failures.items())
        text = problem.text.removesuffix(".")
        yield f"{name} is NotReady, and assigns no tasks: {text} ({_ADVICE[problem.status]}{failed})"
    elif broker.groups.streams.planning.is_delayed(group.id):
        delay_ms = initial_delay_ms(broker.groups.environment.configs, group.id)
        yield (
            f"{name} waits for more members before it assigns tasks "
            f"(group.streams.initial.rebalance.delay.ms={delay_ms})"
        )
    else:
        yield from _unassigned(broker, group, name)


def _unassigned(broker: "Broker", group: "StreamsGroup", name: str) -> Iterator[str]:
    environment = broker.groups.environment
    patience_ms = _HEARTBEATS * heartbeat_ms(environment.configs, group.id)
    if group.assigned_ms is None or environment.now_ms - group.assigned_ms < patience_ms:
        return
    for each in group.members.values():
        if each.state is MemberState.UNREVOKED:
            given_up = [task for kind in each.revoking.tasks for task in each_task(kind)]
            tasks = ", ".join(f"{subtopology}_{index}" for subtopology, index in given_up[:_SHOWN])
            if len(given_up) > _SHOWN:
                tasks += f" and {len(given_up) - _SHOWN} more"
            yield (
                f"the member {each.id} of {name} still has what it has to give up, {tasks}: it says so, "
                f"or nothing; it is removed after its rebalance timeout, {each.rebalance_timeout_ms} ms"
            )
    idle = [each.id for each in group.members.values() if _is_idle(group, each)]
    if idle:
        yield f"{name} has fewer tasks than members: none for {', '.join(sorted(idle))}"


def _is_idle(group: "StreamsGroup", member: "StreamsMember") -> bool:
    """Whether it is to have nothing."""
    return member.reconciled_to(group.assignment_epoch) and not any(group.target_of(member.id))
