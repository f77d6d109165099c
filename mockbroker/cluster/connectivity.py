"""Brokers that are cut off from others or from the controller, and come back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..policies.followers.missed_epoch import missed_epoch
from . import controller, stale
from .follower import FollowerState
from .partition import NO_LEADER

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
    for partition in cluster.partitions():
        for follower in partition.followers.values():
            if partition.leader in cluster.brokers[follower.broker].unreachable:
                partition.set_follower(follower.broker, FollowerState.CUT_OFF)
    if from_controller and one.hears_controller:
        one.hears_controller = False
        one.known_brokers = frozenset(b.id for b in cluster.brokers.values() if not b.fenced)
        one.known_controller = cluster.active_controller.id
        controller.lose_contact(cluster, broker)


def rejoin(cluster: "Cluster", broker: int) -> None:
    """Brings a broker that was cut off back: it hears who leads, and cuts its logs to theirs. KeyError."""
    one = cluster.brokers[broker]
    one.hears_controller, one.known_brokers, one.known_controller = True, None, None
    if one.online:
        # One that is down registers when it is started.
        one.cancel_session()
        one.fenced = False
        cluster.active_controller.appear()
    for other in one.unreachable:
        cluster.brokers[other].unreachable.discard(broker)
    one.unreachable.clear()
    for partition in cluster.partitions():
        knew = stale.drop(partition, broker)
        if partition.leader == NO_LEADER:
            controller.elect(cluster, partition)
        elif partition.leader == broker and knew is not None:
            partition.lead_again()
        follower = partition.followers.get(broker)
        if follower is not None and knew is not None and knew.leader == partition.leader:
            policies = cluster.environment.policies.at(partition.topic.name, broker)
            follower.cut = policies[missed_epoch] == "goes-on"
        for each in list(partition.followers.values()):
            if each.state is FollowerState.CUT_OFF:
                partition.set_follower(each.broker, FollowerState.BEHIND)
        partition.ask_again()
    controller.register(cluster, broker)
