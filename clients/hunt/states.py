"""In which state a broker is while a fault acts on a request to it, in words."""

from collections.abc import Iterator
from typing import Final

from mockbroker.contents.groups import groups
from mockbroker.contents.transactions import transactions
from mockbroker.faults.about import About, about
from mockbroker.faults.exchange import Exchange
from mockbroker.protocol.api_keys import ApiKey

_NAMES: Final = 20
_LEADERS: Final = frozenset(
    {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FOR_LEADER_EPOCH}
)
"""Whoever leads a partition answers these."""
READY: Final = "ready"
UNKNOWN: Final = "a real broker"


def state_of(exchange: Exchange) -> str:
    """What the request is about: the states of its groups and its transactions, and whether the broker leads
    its partitions; whether brokers are down."""
    named = about(exchange.api, exchange.request, exchange.call.cluster, _NAMES)
    return ", ".join(dict.fromkeys(_words(exchange, named))) or READY


def _words(exchange: Exchange, named: About) -> Iterator[str]:
    cluster, broker = exchange.call.cluster, exchange.call.broker
    if named.groups:
        known = groups(cluster)
        for name in sorted(named.groups):
            yield f"group {known[name].state.value}" if name in known else "no group"
    if named.transactional_ids:
        open_ = transactions(cluster)
        for name in sorted(named.transactional_ids):
            yield f"transaction {open_[name].state}" if name in open_ else "no transaction"
    for topic, partition in sorted(named.partitions) if exchange.api in _LEADERS else ():
        of_topic = cluster.topics.get(topic)
        if of_topic is None or partition >= len(of_topic.partitions):
            yield "no partition"
        elif of_topic.partitions[partition].leader != broker.id:
            yield "not leader"
    if any(not each.online for each in cluster.brokers.values()):
        yield "a broker down"
