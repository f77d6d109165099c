"""Operations on the cluster and its brokers."""

from typing import Annotated, TypedDict

from ..cluster import connectivity, controller
from ..cluster.broker import Broker
from ..errors import ConflictError, NotThereError
from ..policies.controller.active_controller import active_controller
from .registry import operation
from .target import Target

BrokerId = Annotated[int, "A broker's id."]


class BrokerState(TypedDict):
    """`state` is running, stopped, killed or returning; `fenced` whether the controller takes it for gone;
    `cut_off` whether it hears nothing of the controller; `unreachable` the brokers it is cut off from."""

    id: int
    host: str
    port: int
    rack: str | None
    state: str
    fenced: bool
    cut_off: bool
    unreachable: list[int]


class ClusterState(TypedDict):
    """`topics` has the number of partitions of each."""

    release: str
    cluster_id: str
    bootstrap_servers: str
    controller: int | None
    now_ms: int
    brokers: list[BrokerState]
    topics: dict[str, int]


@operation("cluster show", "GET", "/cluster")
def show(target: Target) -> ClusterState:
    """What the cluster is: its release, its brokers, its topics. `controller` is null with KRaft: no broker
    is the controller."""
    cluster, active = target.cluster, target.cluster.active_controller
    return {
        "release": str(cluster.release),
        "cluster_id": cluster.cluster_id,
        "bootstrap_servers": target.bootstrap_servers,
        "controller": active.id if cluster.policies[active_controller] == "one-broker" else None,
        "now_ms": cluster.now_ms,
        "brokers": list_brokers(target),
        "topics": {name: len(topic.partitions) for name, topic in cluster.topics.items()},
    }


@operation("brokers list", "GET", "/brokers")
def list_brokers(target: Target) -> list[BrokerState]:
    """Every broker and its state."""
    return [_state(broker) for broker in target.cluster.brokers.values()]


@operation("brokers stop", "POST", "/brokers/{broker}/stop")
def stop(target: Target, broker: BrokerId) -> BrokerState:
    """Takes a broker down: its connections are closed, others lead its partitions."""
    found = target.broker(broker)
    target.deaf.pop(broker, None)
    controller.stop_broker(target.cluster, broker)
    return _state(found)


@operation("brokers kill", "POST", "/brokers/{broker}/kill")
def kill(target: Target, broker: BrokerId) -> BrokerState:
    """Ends a broker at once: nobody else leads its partitions until its session has timed out."""
    found = target.broker(broker)
    target.deaf.pop(broker, None)
    controller.kill_broker(target.cluster, broker)
    return _state(found)


@operation("brokers start", "POST", "/brokers/{broker}/start")
def start(target: Target, broker: BrokerId) -> BrokerState:
    """Brings a broker back with its logs; after a kill not before its session has timed out. While its port
    is taken it stays down, and starts once the port is free."""
    found = target.broker(broker)
    controller.start_broker(target.cluster, broker)
    target.poke()
    if broker in target.deaf:
        raise ConflictError(target.deaf[broker])
    return _state(found)


@operation("brokers cut-off", "POST", "/brokers/{broker}/cut-off")
def cut_off(
    target: Target,
    broker: BrokerId,
    from_: Annotated[
        list[int | str] | None, "Brokers, and `controller`; all of them if it is left out."
    ] = None,
) -> BrokerState:
    """Cuts a broker off from others and from the controller; it goes on leading, as far as it knows."""
    found = target.broker(broker)
    others = [*target.cluster.brokers, "controller"] if from_ is None else from_
    ids = []
    for other in others:
        if isinstance(other, int):
            ids.append(target.broker(other).id)
        elif other != "controller":
            raise NotThereError(f"no broker {other!r}: name ids, or 'controller'")
    connectivity.cut_off(target.cluster, broker, ids, from_controller="controller" in others)
    return _state(found)


@operation("brokers rejoin", "POST", "/brokers/{broker}/rejoin")
def rejoin(target: Target, broker: BrokerId) -> BrokerState:
    """Ends what cut-off began: the broker hears who leads, truncates, and catches up."""
    found = target.broker(broker)
    connectivity.rejoin(target.cluster, broker)
    return _state(found)


def _state(broker: Broker) -> BrokerState:
    return {
        "id": broker.id,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "state": broker.liveness.name.lower(),
        "fenced": broker.fenced,
        "cut_off": not broker.hears_controller,
        "unreachable": sorted(broker.unreachable),
    }
