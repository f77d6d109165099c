"""When brokers hear what the controller wrote: at once, late, or not before they are connected again."""

import functools
from typing import TYPE_CHECKING

from ..policies.followers.missed_epoch import missed_epoch
from . import stale
from .follower import FollowerState

if TYPE_CHECKING:
    from .cluster import Cluster
    from .partition import Partition


def slow_metadata(cluster: "Cluster", broker: int, delay_ms: int) -> None:
    """From now on a broker hears of each metadata record `delay_ms` after it was written; with 0 at once, and
    of those that it has missed. KeyError for a broker that is not there.

    Until then it leads, follows and tells clients as it knows it. One that is cut off hears nothing, and one
    that starts has read everything.
    """
    one = cluster.brokers[broker]
    one.metadata_delay_ms = delay_ms
    if not one.hears_controller:
        return
    if delay_ms:
        cluster.metadata.fall_behind(broker)
    else:
        catch_up(cluster, broker)


def catch_up(cluster: "Cluster", broker: int) -> None:
    """A broker has heard everything; one whose metadata is slow falls behind again from here."""
    _hear(cluster, broker, None)
    cluster.metadata.behind.pop(broker, None)
    if cluster.brokers[broker].metadata_delay_ms:
        cluster.metadata.fall_behind(broker)


def leader_knows(cluster: "Cluster", partition: "Partition") -> bool:
    """Whether the leader has heard that it is the leader, of this epoch or an earlier one."""
    behind = cluster.metadata.behind.get(partition.leader)
    if behind is None:
        return True
    registered = behind.image.partition(partition.topic.id, partition.index)
    return registered is not None and registered.leader == partition.leader


def plan(cluster: "Cluster") -> None:
    """Records were written: those hear of them later who are slow."""
    for broker, behind in cluster.metadata.behind.items():
        one, next_ms = cluster.brokers[broker], behind.next_ms
        if next_ms is not None and one.hears_controller and not one.news_planned:
            one.news_planned = True
            delay_ms = max(0, next_ms + one.metadata_delay_ms - cluster.now_ms)
            cluster.environment.wait(delay_ms, functools.partial(_due, cluster, broker), owned=False)


def _due(cluster: "Cluster", broker: int) -> None:
    one = cluster.brokers[broker]
    one.news_planned = False
    if one.online and one.hears_controller:
        _hear(cluster, broker, cluster.now_ms - one.metadata_delay_ms)
        plan(cluster)


def _hear(cluster: "Cluster", broker: int, until_ms: int | None) -> None:
    behind = cluster.metadata.behind.get(broker)
    if behind is None:
        return
    for topic_id, index in behind.hear(until_ms):
        topic = cluster.topic_ids.get(topic_id)
        registered = behind.image.partition(topic_id, index)
        if topic is None or registered is None:
            continue
        partition = topic.partitions[index]
        if registered.leader_epoch == partition.leader_epoch:
            heard(cluster, partition, broker)
        else:
            stale.replace(partition, broker, registered)


def heard(cluster: "Cluster", partition: "Partition", broker: int) -> None:
    """A broker knows who leads a partition now: it leads it, or follows."""
    knew = stale.drop(partition, broker)
    if partition.leader == broker and knew is not None:
        partition.lead_again()
    follower = partition.followers.get(broker)
    if follower is not None and knew is not None and knew.leader == partition.leader:
        policies = cluster.policies.at(partition.topic.name, broker)
        follower.cut = policies[missed_epoch] == "goes-on"
    for each in list(partition.followers.values()):
        if each.state is FollowerState.CUT_OFF:
            partition.set_follower(each.broker, FollowerState.BEHIND)
    partition.ask_again()
