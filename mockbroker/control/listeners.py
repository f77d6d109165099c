"""The listeners of brokers."""

from typing import TypedDict

from ..verbs.subjects import BrokerListener
from .registry import operation
from .target import Target


class ListenerState(TypedDict):
    """`host` and `port` are what clients are told; `open` is whether they can connect, while the broker
    runs."""

    broker: int
    listener: str
    protocol: str
    host: str
    port: int
    open: bool


def state(listener: BrokerListener) -> ListenerState:
    broker, endpoint = listener
    return {
        "broker": broker.id,
        "listener": endpoint.name,
        "protocol": endpoint.protocol,
        "host": endpoint.host,
        "port": endpoint.port,
        "open": endpoint.open,
    }


@operation("listeners list", "GET", "/listeners")
def list_listeners(target: Target) -> list[ListenerState]:
    """Lists the listeners of every broker, and whether they are open."""
    return [
        state(BrokerListener(broker, endpoint))
        for broker in target.cluster.brokers.values()
        for endpoint in broker.endpoints.values()
    ]
