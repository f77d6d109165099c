"""DescribeConfigs (32): KIP-133, synonyms by KIP-226, loggers by KIP-412, types by KIP-569."""

from collections.abc import Iterable, Iterator

from ..cluster import resources, topic_names
from ..cluster.api_error import ApiError
from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.configs import Source, describing, java, loggers
from ..cluster.configs.describing import Described
from ..cluster.configs.values import TYPE_IDS
from ..cluster.resources import ResourceType
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from .default_messages import default_message
from .registry import handles


@handles(ApiKey.DESCRIBE_CONFIGS)
def describe_configs(call: Call, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """A resource of an unknown type fails the whole request; other errors are a resource's own."""
    known = all(resources.known_type(call.cluster, each.resource_type) for each in request.resources)
    results = []
    for each in request.resources:
        result = DescribeConfigsResult(
            error_message="", resource_type=each.resource_type, resource_name=each.resource_name
        )
        results.append(result)
        if not known:
            result.error_code = ErrorCode.INVALID_REQUEST
            result.error_message = default_message(ErrorCode.INVALID_REQUEST)
            continue
        try:
            found = list(_described(call, each))
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message or ""
            continue
        result.configs = list(_shown(found, each.configuration_keys, request))
    return DescribeConfigsResponse(results=results)


def _shown(
    found: Iterable[Described], names: list[str] | None, request: DescribeConfigsRequest
) -> Iterator[DescribeConfigsResourceResult]:
    """Those asked for by name; all when no names are given.

    Client metrics without a definition are always shown: releases that describe them so ignore the names.
    """
    for name, value, source, synonyms, key, read_only in found:
        if names and name not in names and (key or source != Source.CLIENT_METRICS):
            continue
        yield DescribeConfigsResourceResult(
            name=name,
            value=value,
            read_only=read_only,
            config_source=source,
            is_sensitive=key is not None and key.sensitive,
            synonyms=[DescribeConfigsSynonym(*each) for each in synonyms] if request.include_synonyms else [],
            config_type=TYPE_IDS.get(key.type, 0) if key else 0,
            documentation=_documentation(name, request) if key else "",
        )


def _documentation(name: str, request: DescribeConfigsRequest) -> str | None:
    return describing.documentation().get(name) if request.include_documentation else None


def _described(call: Call, asked: DescribeConfigsResource) -> Iterator[Described]:
    """ApiError: INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST (`ConfigHelper`)."""
    cluster, broker, name = call.cluster, call.broker, asked.resource_name
    match asked.resource_type:
        case ResourceType.TOPIC:
            if (why := topic_names.fault(name)) is not None:
                raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
            if name not in cluster.topics:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            return describing.topic(cluster.configs, cluster.topics[name].overrides, broker.id)
        case ResourceType.BROKER:
            if not name:
                return describing.cluster_wide(cluster.configs)
            _check_id(broker, name, " or empty string,")
            return describing.broker(cluster.configs, broker.id, _own(broker))
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_id(broker, name, "")
            levels = cluster.configs.loggers.get(broker.id, {})
            source = Source.DYNAMIC_BROKER_LOGGER
            return (Described(each, loggers.level(levels, each), source, [], None) for each in loggers.NAMES)
        case ResourceType.CLIENT_METRICS:
            if not name:
                message = "Client metrics subscription name must not be empty"
                raise ApiError(ErrorCode.INVALID_REQUEST, message)
            return describing.client_metrics(cluster.configs, name)
        case _:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return describing.group(cluster.configs, name, broker.id)


def _check_id(broker: Broker, name: str, alternative: str) -> None:
    broker_id = java.integer(name, 32)
    if broker_id is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if broker_id != broker.id:
        message = f"Unexpected broker id, expected {broker.id}{alternative} but received {name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)


def _own(broker: Broker) -> dict[str, str]:
    """The static configuration that differs from broker to broker."""
    listener = f"PLAINTEXT://{broker.host}:{broker.port}"
    own = {"broker.id": str(broker.id), "listeners": listener, "advertised.listeners": listener}
    if "node.id" in broker.cluster.configs.broker_keys:
        own["node.id"] = str(broker.id)
    if broker.rack is not None:
        own["broker.rack"] = broker.rack
    return own
