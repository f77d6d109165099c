"""What happens to brokers' listeners."""

from ..cluster.cluster import Cluster
from .subjects import LISTENER, BrokerListener
from .verb import verb


def _is_closed(cluster: Cluster, listener: BrokerListener) -> str:
    return "" if listener.endpoint.open else f"{listener} is closed already"


@verb("close-listener", LISTENER, unless=_is_closed)
def close_listener(cluster: Cluster, listener: BrokerListener) -> None:
    """Closes a broker's listener: connections that came by it end, and nobody can connect there. The broker
    goes on, with its other listeners, and clients are still told of this one."""
    cluster.processes.open_listener(listener.endpoint, opened=False)


def _is_open(cluster: Cluster, listener: BrokerListener) -> str:
    return f"{listener} is open already" if listener.endpoint.open else ""


@verb("open-listener", LISTENER, unless=_is_open)
def open_listener(cluster: Cluster, listener: BrokerListener) -> None:
    """Opens a broker's listener again."""
    cluster.processes.open_listener(listener.endpoint, opened=True)
