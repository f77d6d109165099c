"""Answers that name brokers, or say what these can do, as clients of the proxy have to read them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..protocol.api_keys import ApiKey
from .narrowing import narrow
from .upstream import Upstream

_SINCE: Final[Mapping[int, int]] = {
    ApiKey.METADATA: 0,
    ApiKey.FIND_COORDINATOR: 0,
    ApiKey.DESCRIBE_CLUSTER: 0,
    ApiKey.API_VERSIONS: 0,
    ApiKey.PRODUCE: 10,
    ApiKey.FETCH: 16,
    ApiKey.SHARE_FETCH: 0,
    ApiKey.SHARE_ACKNOWLEDGE: 0,
}
"""The first version whose answers name brokers; that of Produce and Fetch is of KIP-951."""


def names_brokers(api_key: int, version: int) -> bool:
    """Whether an answer may have to be rewritten."""
    since = _SINCE.get(api_key)
    return since is not None and version >= since


def rewrite(api: ApiKey, answer: Any, upstream: Upstream) -> bool:
    """Changes an answer in place; False if there was nothing to change."""
    return _REWRITERS.get(api, _nodes)(answer, upstream)


def _metadata(answer: Any, upstream: Upstream) -> bool:
    for broker in answer.brokers:
        broker.host, broker.port = upstream.told(broker.node_id, broker.host, broker.port)
    for topic in answer.topics:
        if topic.name and not topic.error_code:
            upstream.named(topic.name, topic.topic_id)
    return bool(answer.brokers)


def _cluster(answer: Any, upstream: Upstream) -> bool:
    for broker in answer.brokers:
        broker.host, broker.port = upstream.told(broker.broker_id, broker.host, broker.port)
    return bool(answer.brokers)


def _coordinators(answer: Any, upstream: Upstream) -> bool:
    for each in answer.coordinators:
        each.host, each.port = upstream.told(each.node_id, each.host, each.port)
    return bool(answer.coordinators)


def _nodes(answer: Any, upstream: Upstream) -> bool:
    for node in answer.node_endpoints:
        node.host, node.port = upstream.told(node.node_id, node.host, node.port)
    return bool(answer.node_endpoints)


def _versions(answer: Any, upstream: Upstream) -> bool:
    narrow(answer, upstream.shown)
    return True


_REWRITERS: Final[Mapping[ApiKey, Callable[[Any, Upstream], bool]]] = {
    ApiKey.METADATA: _metadata,
    ApiKey.DESCRIBE_CLUSTER: _cluster,
    ApiKey.FIND_COORDINATOR: _coordinators,
    ApiKey.API_VERSIONS: _versions,
}
