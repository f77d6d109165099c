"""Brokers that are cut off from others or from the controller, and come back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..metadata.records import NO_LEADER
from ..replication.states import FollowerEvent
from . import controller, news

if TYPE_CHECKING:
    from .cluster import Cluster


def cut_off(cluster: "Cluster", broker: int, others: Iterable[int], *, from_controller: bool) -> None:
    """Cuts a broker off from `others`, and from the controller, which fences it once its session is over.

    Until it is back it serves clients with the leaders it knew. KeyError for a broker that is not there.
    """
    one = cluster.brokers[broker]
    for other in [cluster.brokers[each] for each in others if each != broker]:
        one.unreachable.add(other.id)
        other.unreachable.add(broker)
    for broker_id in (broker, *one.unreachable):
        for partition in cluster.brokers[broker_id].replicas:
            if partition.fetcher is not None and partition.leader in cluster.brokers[broker_id].unreachable:
                partition.fetcher.on(FollowerEvent.LOSE)
    if from_controller and one.hears_controller:
        one.hears_controller = False
        cluster.metadata.fall_behind(broker)
        controller.lose_contact(cluster, broker)


def rejoin(cluster: "Cluster", broker: int) -> None:
    """Brings a broker that was cut off back: it hears who leads, and cuts its logs to theirs. KeyError."""
    one = cluster.brokers[broker]
    one.hears_controller = True
    if one.online:
        # One that is down registers when it is started.
        one.cancel_session()
        controller.unfence(cluster, broker)
        cluster.active_controller.appear()
    others = [cluster.brokers[other] for other in one.unreachable]
    for other in others:
        other.unreachable.discard(broker)
    one.unreachable.clear()
    for partition in cluster.partitions():
        if partition.leader == NO_LEADER:
            controller.elect(partition)
    news.catch_up(cluster, broker)
    for each in (one, *others):
        each.replicas.retry()
    controller.register(cluster, broker)
