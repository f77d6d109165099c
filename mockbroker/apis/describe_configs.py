"""DescribeConfigs (32): KIP-133, synonyms by KIP-226, loggers by KIP-412, types by KIP-569."""

from collections.abc import Generator, Hashable, Iterator, Mapping

from ..addresses import joined
from ..cluster import resources
from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.resources import ResourceType
from ..configs import Source, describing, java, loggers
from ..configs.describing import Described
from ..configs.values import TYPE_IDS
from ..controller import topic_names
from ..outcome import Steps
from ..policies.configuration.shown_defaults import shown_defaults
from ..portions import PORTION, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ..protocol.primitives import Shared
from .registry import handles


@handles(
    ApiKey.DESCRIBE_CONFIGS,
    changes=False,
    source="ConfigHelper.describeConfigs, KafkaApis.handleDescribeConfigsRequest",
    resource_retry="UNKNOWN_TOPIC_OR_PARTITION",
    resource="""INVALID_REQUEST, INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED,
        CLUSTER_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED""",
)
def describe_configs(call: Call, request: DescribeConfigsRequest) -> object:
    """A resource of an unknown type fails the whole request; other errors affect only their resource."""
    return call.in_parts(_resources(call, request))


def _resources(call: Call, request: DescribeConfigsRequest) -> Steps:
    """One part for each resource."""
    known = all(resources.known_type(call.cluster, each.resource_type) for each in request.resources)
    results = []
    shown = _Shown(call, request)
    for each in request.resources:
        result = DescribeConfigsResult(
            error_message="", resource_type=each.resource_type, resource_name=each.resource_name
        )
        results.append(result)
        yield
        if not known:
            result.error_code = ErrorCode.INVALID_REQUEST
            result.error_message = default_message(ErrorCode.INVALID_REQUEST)
            continue
        try:
            result.configs = yield from shown.of(each)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message or ""
    return DescribeConfigsResponse(results=results)


class _Shown:
    """What is shown of the resources of one request. Most have the same configuration, so equal parts are
    shared."""

    def __init__(self, call: Call, request: DescribeConfigsRequest) -> None:
        self._call = call
        self._request = request
        self._whole: dict[Hashable, Shared[DescribeConfigsResourceResult]] = {}

    def of(
        self, asked: DescribeConfigsResource
    ) -> Generator[None, None, list[DescribeConfigsResourceResult]]:
        """The configurations that were asked for by name, or all if no names were given. ApiError.

        Client metrics without a definition are always shown: releases that describe them ignore the names.
        """
        _check(self._call, asked)
        overrides = _overrides(self._call, asked)
        kind = asked.resource_type, bool(asked.resource_name), tuple(overrides.items())
        whole = self._whole.get(kind)
        if whole is None:
            whole = Shared()
            for portion in portions(_described(self._call, asked, overrides)):
                whole += map(self._result, portion)
                if len(portion) == PORTION:
                    yield
            self._whole[kind] = whole
        if not asked.configuration_keys:
            return whole
        names = set(asked.configuration_keys)
        return [each for each in whole if each.name in names or _always_shown(each)]

    def _result(self, found: Described) -> DescribeConfigsResourceResult:
        name, value, source, synonyms, key, read_only = found
        request = self._request
        documented = request.include_documentation and key is not None
        return DescribeConfigsResourceResult(
            name=name,
            value=value,
            read_only=read_only,
            is_default=source == Source.DEFAULT and self._call.policies[shown_defaults] == "told",
            config_source=source,
            is_sensitive=key is not None and key.sensitive,
            synonyms=[DescribeConfigsSynonym(*each) for each in synonyms] if request.include_synonyms else [],
            config_type=TYPE_IDS.get(key.type, 0) if key else 0,
            documentation=describing.documentation().get(name) if documented else None if key else "",
        )


def _always_shown(result: DescribeConfigsResourceResult) -> bool:
    return result.config_source == Source.CLIENT_METRICS and not result.config_type


def _check(call: Call, asked: DescribeConfigsResource) -> None:
    """ApiError: INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST (`ConfigHelper`)."""
    broker, name = call.broker, asked.resource_name
    match asked.resource_type:
        case ResourceType.TOPIC:
            if (why := topic_names.fault(name)) is not None:
                raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
            if name not in broker.image.topics:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        case ResourceType.BROKER:
            if name:
                _check_id(broker, name, " or empty string,")
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_id(broker, name, "")
        case ResourceType.CLIENT_METRICS:
            if not name:
                message = "Client metrics subscription name must not be empty"
                raise ApiError(ErrorCode.INVALID_REQUEST, message)
        case _:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")


def _overrides(call: Call, asked: DescribeConfigsResource) -> Mapping[str, str]:
    """What is set for exactly this resource."""
    cluster, name = call.cluster, asked.resource_name
    match asked.resource_type:
        case ResourceType.TOPIC:
            return call.broker.image.topics[name].overrides
        case ResourceType.CLIENT_METRICS:
            return cluster.environment.configs.client_metrics.get(name, {})
        case ResourceType.GROUP:
            return cluster.environment.configs.groups.get(name, {})
        case _:
            return {}


def _described(
    call: Call, asked: DescribeConfigsResource, overrides: Mapping[str, str]
) -> Iterator[Described]:
    configs, broker = call.environment.configs, call.broker
    match asked.resource_type:
        case ResourceType.TOPIC:
            return describing.topic(configs, overrides, broker.id)
        case ResourceType.BROKER if not asked.resource_name:
            return describing.cluster_wide(configs)
        case ResourceType.BROKER:
            return describing.broker(configs, broker.id, _own(broker))
        case ResourceType.BROKER_LOGGER:
            levels, source = configs.loggers.get(broker.id, {}), Source.DYNAMIC_BROKER_LOGGER
            return (Described(each, loggers.level(levels, each), source, [], None) for each in loggers.NAMES)
        case ResourceType.CLIENT_METRICS:
            return describing.client_metrics(configs, overrides)
        case _:
            return describing.group(configs, overrides, broker.id)


def _check_id(broker: Broker, name: str, alternative: str) -> None:
    broker_id = java.integer(name, 32)
    if broker_id is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if broker_id != broker.id:
        message = f"Unexpected broker id, expected {broker.id}{alternative} but received {name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)


def _own(broker: Broker) -> dict[str, str]:
    """The static configuration that differs between brokers."""
    endpoints = broker.endpoints
    own = {
        "broker.id": str(broker.id),
        "listeners": ",".join(f"{name}://{joined(*each.listens_on)}" for name, each in endpoints.items()),
        "advertised.listeners": ",".join(
            f"{name}://{joined(each.host, each.port)}" for name, each in endpoints.items()
        ),
    }
    if any(name != each.protocol for name, each in endpoints.items()):
        # Kafka's default maps every protocol to itself.
        own["listener.security.protocol.map"] = ",".join(
            f"{name}:{each.protocol}" for name, each in endpoints.items()
        )
    if "node.id" in broker.environment.configs.broker_keys:
        own["node.id"] = str(broker.id)
    if broker.rack is not None:
        own["broker.rack"] = broker.rack
    return own
