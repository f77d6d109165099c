"""The resources that have configurations, and how they are changed (`ConfigAdminManager`,
`ControllerApis`)."""

import enum
from collections.abc import Callable, Mapping
from typing import Final

from .. import acls
from ..configs import ConfigError, altering, definitions, groups, java, loggers
from ..controller import topic_names
from ..outcome import Steps
from ..policies.configuration.other_node_id import other_node_id
from ..policies.configuration.unknown_topic_configs import unknown_topic_configs
from ..policies.configuration.wrong_topic_configs import wrong_topic_configs
from ..portions import FEW, portions
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from .broker import Broker
from .cluster import Cluster

Edit = Callable[[Mapping[str, str]], dict[str, str]]
"""(values that are set) -> values to be set. ApiError."""


class ResourceType(enum.IntEnum):
    """`ConfigResource.Type`."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


ACL_TYPES: Final[Mapping[int, acls.ResourceType]] = {
    ResourceType.TOPIC: acls.ResourceType.TOPIC,
    ResourceType.BROKER: acls.ResourceType.CLUSTER,
    ResourceType.BROKER_LOGGER: acls.ResourceType.CLUSTER,
    ResourceType.CLIENT_METRICS: acls.ResourceType.CLUSTER,
    ResourceType.GROUP: acls.ResourceType.GROUP,
}
"""What a client needs rights on that asks for a resource's configuration."""


def known_type(cluster: Cluster, number: int) -> ResourceType | None:
    """The type, None if this release has no such resources."""
    try:
        found = ResourceType(number)
    except ValueError:
        return None
    release = cluster.environment.release
    if found is ResourceType.GROUP and not definitions.keys("group", release):
        return None
    if found is ResourceType.CLIENT_METRICS and not definitions.keys("client_metrics", release):
        return None
    return found


def alter_topic(cluster: Cluster, name: str, edit: Edit, validate_only: bool) -> None:
    """Sets a topic's configuration: first its values are checked, then whether it exists. ApiError."""
    policies = cluster.environment.policies
    topic, unknown = cluster.topics.get(name), policies[unknown_topic_configs]
    if topic is None and unknown == "told-first":
        raise _not_there(name)
    overrides = edit(topic.overrides if topic else {})
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    if (why := topic_names.fault(name)) is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
    if topic is None and unknown in ("fails", "fails-untold"):
        told = f'Topic "{name}" does not exist.' if unknown == "fails" else None
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, told)
    _check_topic(cluster, name, overrides)
    if topic is not None and not validate_only:
        topic.configure(overrides)
    if topic is None and unknown == "told":
        raise _not_there(name)


def _not_there(topic: str) -> ApiError:
    return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist.")


def _check_topic(cluster: Cluster, name: str, overrides: dict[str, str]) -> None:
    configs = cluster.environment.configs
    request = cluster.environment.policies[wrong_topic_configs] == "invalid-request"
    if not request or not overrides.keys() <= configs.topic_keys.keys():
        _checked(lambda: configs.topic_values(overrides))
        return
    try:
        configs.topic_values(overrides)
    except ConfigError as error:
        resource = f"ConfigResource(type=TOPIC, name='{name}')"
        message = f"Invalid config value for resource {resource}: {error}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message) from error


def alter_broker(
    cluster: Cluster, broker: Broker, name: str, edit: Edit, validate_only: bool, ask: Callable[[], None]
) -> Steps:
    """Sets the configuration of `broker` (`name` is its id), or, with an empty name, of all brokers; then
    topics inherit it, a few at a time. Once the values are known to be right it calls `ask`, which may raise
    an error. ApiError."""
    configs = cluster.configs
    broker_id = None
    if name:
        check_node_id(broker, name)
        broker_id = broker.id
    current = configs.cluster_wide if broker_id is None else configs.per_broker.setdefault(broker_id, {})
    values = edit(current)
    altering.check_broker(configs, values, broker_id)
    ask()
    altering.check_min_insync_replicas(configs, current, values, broker_id)
    if configs.files is not None and broker_id is not None:
        configs.files.check(broker_id, values)
    if validate_only:
        return
    current.clear()
    current.update(values)
    configs.changed()
    if configs.files is not None and broker_id is not None:
        configs.files.use(broker_id)
    for portion in portions(list(cluster.topics.values()), FEW):
        for topic in portion:
            if cluster.topic_ids.get(topic.id) is topic:
                topic.inherit()
        yield


def alter_loggers(broker: Broker, name: str, changes: list[altering.Change], validate_only: bool) -> None:
    """Sets levels of loggers. ApiError."""
    check_node_id(broker, name, sentences=True)
    environment = broker.environment
    levels = loggers.alter(environment.configs.loggers.get(broker.id, {}), changes, environment.release)
    if not validate_only:
        environment.configs.loggers[broker.id] = levels


def alter_client_metrics(cluster: Cluster, name: str, edit: Edit, validate_only: bool) -> None:
    configs = cluster.environment.configs
    current = configs.client_metrics.get(name, {})
    values = edit(current)
    _checked(lambda: groups.check_client_metrics(configs, name, values))
    if not validate_only and values != current:
        _store(configs.client_metrics, name, values)
        configs.client_metrics_changes += 1


def alter_group(cluster: Cluster, name: str, edit: Edit, validate_only: bool) -> None:
    configs = cluster.environment.configs
    values = edit(configs.groups.get(name, {}))
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    _checked(lambda: groups.check_group(configs, values))
    if not validate_only:
        _store(configs.groups, name, values)


def check_node_id(broker: Broker, name: str, *, sentences: bool = False) -> None:
    """ApiError INVALID_REQUEST if `name` is not the id of `broker`; `sentences` chooses the message."""
    node_id = java.integer(name, 32)
    if node_id is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if node_id != broker.id:
        message = f"Unexpected broker id, expected {broker.id}, but received {name}"
        if sentences:
            received = node_id if broker.policies[other_node_id] == "received-id" else broker.id
            message = f"Unexpected node id. Expected {broker.id}, but received {received}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)


def _store(table: dict[str, dict[str, str]], name: str, values: dict[str, str]) -> None:
    if values:
        table[name] = values
    else:
        table.pop(name, None)


def _checked(check: Callable[[], object]) -> None:
    try:
        check()
    except ConfigError as error:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
