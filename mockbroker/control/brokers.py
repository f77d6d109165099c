"""Operations that look at the cluster and its brokers."""

from typing import TypedDict

from ..cluster.broker import Broker
from ..policies.controller.active_controller import active_controller
from .registry import operation
from .shaping import shaped
from .target import Target


class BrokerState(TypedDict):
    """`state` is running, stopped, killed or returning; `fenced` is whether the controller has fenced it;
    `cut_off` whether it is cut off from the controller; `unreachable` the brokers that it is cut off from;
    `metadata_delay_ms` how late it learns what the controller decides."""

    id: int
    host: str
    port: int
    rack: str | None
    state: str
    fenced: bool
    cut_off: bool
    unreachable: list[int]
    metadata_delay_ms: int


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
    """Shows the cluster: its release, its brokers and its topics. `controller` is null with KRaft, where no
    broker is the controller."""
    cluster, active = target.cluster, target.cluster.controller.active
    # To ask the behaviour itself would be a decision, which the trace tells.
    who = cluster.policies.answer(active_controller.name)
    return {
        "release": str(cluster.release),
        "cluster_id": cluster.cluster_id,
        "bootstrap_servers": target.bootstrap_servers,
        "controller": active.id if who == "one-broker" else None,
        "now_ms": cluster.now_ms,
        "brokers": list_brokers(target),
        "topics": {name: len(topic.partitions) for name, topic in cluster.topics.items()},
    }


@operation("brokers list", "GET", "/brokers")
def list_brokers(target: Target) -> list[BrokerState]:
    """Lists every broker and its state."""
    return [state(broker) for broker in target.cluster.brokers.values()]


def state(broker: Broker) -> BrokerState:
    """A broker's state."""
    return shaped(
        BrokerState,
        broker,
        state=broker.liveness.name.lower(),
        host=broker.endpoint.host,
        port=broker.endpoint.port,
        cut_off=not broker.hears_controller,
        unreachable=sorted(broker.unreachable),
    )
