"""What happens to brokers."""

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.liveness import Liveness
from .parameters import CONTROLLER, MetadataDelay, Peers
from .subjects import BROKER
from .verb import verb


def _is_down(cluster: Cluster, broker: Broker) -> str:
    if broker.liveness in (Liveness.STOPPED, Liveness.KILLED):
        return f"broker {broker.id} is down already: it {broker.liveness.value}"
    return ""


@verb("stop-broker", BROKER, unless=_is_down)
def stop_broker(cluster: Cluster, broker: Broker) -> None:
    """Shuts a broker down: its connections are closed, and other brokers become leaders of its partitions."""
    cluster.processes.stop(broker.id)


@verb("kill-broker", BROKER, unless=_is_down)
def kill_broker(cluster: Cluster, broker: Broker) -> None:
    """Kills a broker: its partitions get no new leader until its session has timed out."""
    cluster.processes.kill(broker.id)


def _is_started(cluster: Cluster, broker: Broker) -> str:
    if broker.liveness is Liveness.RETURNING:
        return f"broker {broker.id} {broker.liveness.value}"
    return f"broker {broker.id} runs already" if broker.online else ""


@verb("start-broker", BROKER, unless=_is_started)
def start_broker(cluster: Cluster, broker: Broker) -> None:
    """Starts a broker again, with its logs; after a kill, once its session has timed out. If its port is
    taken, it starts once the port is free."""
    cluster.processes.start(broker.id)


def _is_cut_off(cluster: Cluster, broker: Broker, from_: Peers = None) -> str:
    others, from_controller = _peers(cluster, broker, from_)
    if (from_controller and broker.hears_controller) or not broker.unreachable.issuperset(others):
        return ""
    if not others and not from_controller:
        return f"broker {broker.id} always reaches itself: name other brokers, or 'controller'"
    return f"broker {broker.id} is cut off from them already"


@verb("cut-off-broker", BROKER, unless=_is_cut_off)
def cut_off_broker(cluster: Cluster, broker: Broker, from_: Peers = None) -> None:
    """Cuts a broker off from other brokers and from the controller; it continues to act as leader."""
    others, from_controller = _peers(cluster, broker, from_)
    cluster.network.cut_off(broker.id, others, from_controller=from_controller)


def _peers(cluster: Cluster, broker: Broker, from_: Peers) -> tuple[list[int], bool]:
    """The other brokers, and whether the controller is meant too."""
    named = [*cluster.brokers, CONTROLLER] if from_ is None else from_
    return [each for each in named if isinstance(each, int) and each != broker.id], CONTROLLER in named


def _is_connected(cluster: Cluster, broker: Broker) -> str:
    cut_off = broker.unreachable or not broker.hears_controller
    return "" if cut_off else f"broker {broker.id} is not cut off"


@verb("rejoin-broker", BROKER, unless=_is_connected)
def rejoin_broker(cluster: Cluster, broker: Broker) -> None:
    """Reverses a cut-off: the broker learns who leads, truncates its logs, and catches up."""
    cluster.network.rejoin(broker.id)


def _hears_so(cluster: Cluster, broker: Broker, delay_ms: MetadataDelay) -> str:
    if broker.metadata_delay_ms != delay_ms:
        return ""
    return f"broker {broker.id} hears of metadata {f'{delay_ms} ms late' if delay_ms else 'at once'} already"


@verb("slow-metadata", BROKER, unless=_hears_so)
def slow_metadata(cluster: Cluster, broker: Broker, delay_ms: MetadataDelay) -> None:
    """Makes a broker learn late what the controller decides: until then it leads, follows and answers clients
    by what it knew before. With 0 it learns everything at once again, including what it missed."""
    cluster.slow_metadata(broker.id, delay_ms)
