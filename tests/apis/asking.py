"""Asks a cluster through its handlers, with no bytes and no sockets."""

from random import Random
from typing import Any

from mockbroker.apis import HANDLERS
from mockbroker.cluster.call import Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.policies import Policies
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import create_topics
from mockbroker.protocol.releases import facts, parse


def a_cluster(
    release: str = "4.4", brokers: int = 3, policies: dict[str, str] | None = None, **config: str
) -> Cluster:
    """A cluster; names of configurations are given with `_` for `.`."""
    line = parse(release)
    named = {name.replace("_", "."): value for name, value in config.items()}
    return Cluster(line, Random(0), brokers=brokers, config=named, policies=Policies(line, policies or {}))


def ask(cluster: Cluster, request: Any, *, version: int | None = None, broker: int = 1) -> Any:
    """The answer of `broker`; the newest version of its release unless told."""
    words = type(request).__module__.rpartition(".")[2].upper()
    key = ApiKey[words]
    newest = facts(cluster.release).apis[key][1] if version is None else version
    return HANDLERS[key](Call(cluster.brokers[broker], newest, Client(), "test", lambda *_: None), request)


def create(cluster: Cluster, name: str, partitions: int = 1, factor: int = 1, **configs: str | None) -> Any:
    """Creates one topic; its result."""
    topic = create_topics.CreatableTopic(name, partitions, factor)
    topic.configs = [
        create_topics.CreatableTopicConfig(each.replace("_", "."), value) for each, value in configs.items()
    ]
    return ask(cluster, create_topics.CreateTopicsRequest([topic])).topics[0]
