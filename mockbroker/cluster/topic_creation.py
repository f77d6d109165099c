"""Checks and replica placement of new topics and partitions (`ReplicationControlManager.java`)."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ..configs import ConfigError
from ..policies.topics.large_creation import large_creation
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from . import topic_names

if TYPE_CHECKING:
    from .cluster import Cluster

MAX_PARTITIONS_PER_REQUEST: Final = 10_000
MAX_RECORDS: Final = 10_000
"""A topic is a record, as is each of its partitions and configurations (`MAX_RECORDS_PER_USER_OP`)."""


def check_name(cluster: "Cluster", name: str, beside: Collection[str] = ()) -> None:
    """ApiError: INVALID_TOPIC_EXCEPTION or TOPIC_ALREADY_EXISTS. Names in `beside` collide with none."""
    why = topic_names.fault(name)
    if why is None and name in cluster.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if why is None:
        other = cluster.colliding_names.with_name_like(name)
        if other is not None and other not in beside:
            why = f"Topic '{name}' collides with existing topic: {other}"
    if why is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, why)


def check_configs(cluster: "Cluster", configs: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """The overrides of a topic; of a repeated name the last counts. ApiError: INVALID_CONFIG."""
    if nulls := [name for name, value in configs if value is None]:
        message = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise ApiError(ErrorCode.INVALID_CONFIG, message)
    overrides = {name: value for name, value in configs if value is not None}
    try:
        cluster.environment.configs.topic_values(overrides)
    except ConfigError as error:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return overrides


def place(
    cluster: "Cluster", partitions: int, replication_factor: int, first: int | None = None
) -> list[list[int]]:
    """Replicas of each partition of a new topic; -1 stands for the broker's default (KIP-464).

    Topics start at different brokers, so that single partitions don't pile up on one, but for those of one
    request, which start at the same (`first`). ApiError:
    INVALID_REPLICATION_FACTOR or INVALID_PARTITIONS.
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
        partitions = cluster.environment.configs.broker_int("num.partitions")
    if replication_factor == -1:
        replication_factor = cluster.environment.configs.broker_int("default.replication.factor")
    check_replication_factor(cluster, replication_factor)
    return cluster.assign_replicas(
        partitions, replication_factor, first=len(cluster.topics) if first is None else first
    )


def check_replication_factor(cluster: "Cluster", factor: int) -> None:
    """ApiError INVALID_REPLICATION_FACTOR when there are not enough brokers (`StripedReplicaPlacer.java`)."""
    brokers = len(cluster.brokers)
    if factor > brokers:
        cordons = "cordoned.log.dirs" in cluster.environment.configs.broker_keys
        or_cordoned = " or some brokers have all their log directories cordoned" if cordons else ""
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): The target replication factor of {factor} "
            f"cannot be reached because only {brokers} broker(s) are registered"
            f"{or_cordoned}.",
        )


def check_brokers(cluster: "Cluster", replicas: Sequence[int], factor: int | None = None) -> None:
    """Checks a manual assignment by itself; `factor` is how many replicas it must have.

    ApiError INVALID_REPLICA_ASSIGNMENT.
    """
    why = None
    ordered = sorted(replicas)
    unknown = next((broker for broker in ordered if broker not in cluster.brokers), None)
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


def check_replicas(cluster: "Cluster", index: int, replicas: Sequence[int], factor: int | None) -> None:
    """Checks the manual assignment of partition `index`; `factor` is the size of the ones before it.

    ApiError INVALID_REPLICA_ASSIGNMENT.
    """
    check_brokers(cluster, replicas, factor)
    if all(cluster.brokers[broker].fenced for broker in replicas):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"All brokers specified in the manual partition assignment for partition {index} are fenced or "
            f"in controlled shutdown.",
        )


def check_assignment(cluster: "Cluster", assignments: Sequence[tuple[int, Sequence[int]]]) -> list[list[int]]:
    """A new topic's manual assignment, by partition. ApiError INVALID_REPLICA_ASSIGNMENT."""
    found: dict[int, list[int]] = {}
    factor = None
    for index, replicas in assignments:
        if index in found:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {index}",
            )
        check_replicas(cluster, index, replicas, factor)
        factor = len(replicas)
        found[index] = list(replicas)
    if sorted(found) != list(range(len(found))):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [found[index] for index in range(len(found))]


def may_auto_create(cluster: "Cluster", names: Iterable[str]) -> bool:
    """Whether the controller creates those of `names` that can be: it is asked for all of them at once."""
    if cluster.environment.policies[large_creation] is None:
        return True
    records, each = 0, 1 + cluster.environment.configs.broker_int("num.partitions")
    for name in names:
        if topic_names.fault(name) is None and cluster.colliding_names.with_name_like(name) is None:
            records += each
            if records > MAX_RECORDS:
                return False
    return True


def auto_create(cluster: "Cluster", name: str) -> None:
    """Creates a topic that a client asked for by Metadata, if its name and the defaults allow it; else it is
    noted why not."""
    if name == "__consumer_offsets":
        cluster.create_offsets_topic()
        return
    if name == "__transaction_state":
        cluster.create_transaction_topic()
        return
    try:
        check_name(cluster, name)
        cluster.create_topic(name, place(cluster, -1, -1))
    except ApiError as error:
        # The answer to the client was given before the controller refused.
        cluster.notes.topic_not_created(name, told(error))


def told(error: ApiError) -> str:
    """The error's name, and Kafka's words for it."""
    return f"{error.code.name}: {error.message}" if error.message else error.code.name
