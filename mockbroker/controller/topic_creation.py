"""Checks and replica placement of new topics and partitions (`ReplicationControlManager.java`)."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final

from ..configs import ConfigError
from ..policies.topics.large_creation import large_creation
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from . import topic_names
from .state import ControllerState

MAX_PARTITIONS_PER_REQUEST: Final = 10_000
MAX_RECORDS: Final = 10_000
"""Each topic is a record, and so is each of its partitions and configurations (`MAX_RECORDS_PER_USER_OP`)."""


def check_name(state: ControllerState, name: str, beside: Collection[str] = ()) -> None:
    """ApiError: INVALID_TOPIC_EXCEPTION or TOPIC_ALREADY_EXISTS. Collisions with names in `beside` don't
    count."""
    why = topic_names.fault(name)
    if why is None and name in state.image.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if why is None:
        other = state.colliding_names.with_name_like(name)
        if other is not None and other not in beside:
            why = f"Topic '{name}' collides with existing topic: {other}"
    if why is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, why)


def check_configs(state: ControllerState, configs: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """The overrides of a topic; if a name is repeated, the last counts. ApiError: INVALID_CONFIG."""
    if nulls := [name for name, value in configs if value is None]:
        message = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise ApiError(ErrorCode.INVALID_CONFIG, message)
    overrides = {name: value for name, value in configs if value is not None}
    try:
        state.environment.configs.topic_values(overrides)
    except ConfigError as error:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return overrides


def place(
    state: ControllerState, partitions: int, replication_factor: int, first: int | None = None
) -> list[list[int]]:
    """Replicas of each partition of a new topic; -1 means the broker's default (KIP-464).

    Topics start at different brokers, so that single partitions don't gather on one broker; but those of one
    request start at the same (`first`). ApiError: INVALID_REPLICATION_FACTOR or INVALID_PARTITIONS.
    """
    if replication_factor < -1 or replication_factor == 0:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions < -1 or partitions == 0:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    if partitions == -1:
        partitions = state.environment.configs.broker_int("num.partitions")
    if replication_factor == -1:
        replication_factor = state.environment.configs.broker_int("default.replication.factor")
    check_replication_factor(state, replication_factor)
    return assign_replicas(
        state, partitions, replication_factor, len(state.image.topics) if first is None else first
    )


def assign_replicas(
    state: ControllerState, partitions: int, replication_factor: int, first: int = 0
) -> list[list[int]]:
    """Round robin over the brokers: partition i is led by the i-th, counted from `first`. Fenced brokers come
    last (`StripedReplicaPlacer.java`). Partitions with the same replicas share the list."""
    brokers = state.image.brokers.values()
    active = [broker.id for broker in brokers if not broker.fenced]
    fenced = [broker.id for broker in brokers if broker.fenced]

    turned = [[*active[at:], *active[:at], *fenced][:replication_factor] for at in range(len(active))]
    placed = turned or [fenced[:replication_factor]]
    return [placed[(first + index) % len(placed)] for index in range(partitions)]


def check_replication_factor(state: ControllerState, factor: int) -> None:
    """ApiError INVALID_REPLICATION_FACTOR if there are not enough brokers (`StripedReplicaPlacer.java`)."""
    brokers = len(state.image.brokers)
    if factor > brokers:
        cordons = "cordoned.log.dirs" in state.environment.configs.broker_keys
        or_cordoned = " or some brokers have all their log directories cordoned" if cordons else ""
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): The target replication factor of {factor} "
            f"cannot be reached because only {brokers} broker(s) are registered"
            f"{or_cordoned}.",
        )


def check_brokers(state: ControllerState, replicas: Sequence[int], factor: int | None = None) -> None:
    """Checks a manual assignment on its own; `factor` is how many replicas it must have.

    ApiError INVALID_REPLICA_ASSIGNMENT.
    """
    why = None
    ordered = sorted(replicas)
    unknown = next((broker for broker in ordered if broker not in state.image.brokers), None)
    twice = next((low for low, high in pairwise(ordered) if low == high), None)
    if not replicas:
        why = "includes an empty replica list."
    elif unknown is not None and (twice is None or unknown <= twice):
        why = f"includes broker {unknown}, but no such broker is registered."
    elif twice is not None:
        why = f"includes the broker {twice} more than once."
    elif factor is not None and len(replicas) != factor:
        why = (
            f"includes a partition with {len(replicas)} replica(s), but this is not consistent with previous "
            f"partitions, which have {factor} replica(s)."
        )
    if why is not None:
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment {why}")


def check_replicas(state: ControllerState, index: int, replicas: Sequence[int], factor: int | None) -> None:
    """Checks the manual assignment of partition `index`; `factor` is the number of replicas of the ones
    before.

    ApiError INVALID_REPLICA_ASSIGNMENT.
    """
    check_brokers(state, replicas, factor)
    if all(state.is_fenced(broker) for broker in replicas):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"All brokers specified in the manual partition assignment for partition {index} are fenced or "
            f"in controlled shutdown.",
        )


def check_assignment(
    state: ControllerState, assignments: Sequence[tuple[int, Sequence[int]]]
) -> list[list[int]]:
    """A new topic's manual assignment, by partition. ApiError INVALID_REPLICA_ASSIGNMENT."""
    found: dict[int, list[int]] = {}
    checked: dict[tuple[int, ...], list[int]] = {}
    factor = None
    for index, replicas in assignments:
        if index in found:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {index}",
            )
        key = tuple(replicas)
        if key not in checked:
            check_replicas(state, index, replicas, factor)
            factor, checked[key] = len(replicas), list(replicas)
        found[index] = checked[key]
    if sorted(found) != list(range(len(found))):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [found[index] for index in range(len(found))]


def may_auto_create(state: ControllerState, names: Iterable[str]) -> bool:
    """Whether the controller creates those of `names` that it can: it is asked for all of them at once."""
    if state.environment.policies[large_creation] is None:
        return True
    records, each = 0, 1 + state.environment.configs.broker_int("num.partitions")
    for name in names:
        if topic_names.fault(name) is None and state.colliding_names.with_name_like(name) is None:
            records += each
            if records > MAX_RECORDS:
                return False
    return True
