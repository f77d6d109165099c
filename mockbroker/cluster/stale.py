"""A partition as a broker knows it that has not heard of its new leader."""

from typing import TYPE_CHECKING

from ..metadata.image import PartitionRegistration
from .awaited import Awaited
from .follower import NEVER_MS, Follower, FollowerState
from .partition import Partition

if TYPE_CHECKING:
    from .cluster import Cluster


class StalePartition(Partition):
    """What was so when the broker was last told: leader, leader epoch, ISR. The log is the broker's own.

    If it led, it goes on leading for the clients that reach it. Its followers are gone, and its ISR stays as
    it is, since only the controller can change it: what is produced with acks=-1 waits in vain, unless it was
    alone.
    """

    __slots__ = ()

    def __init__(self, current: Partition, broker: int, registered: PartitionRegistration) -> None:
        log = current.logs.get(broker)
        super().__init__(current.topic, current.index, registered, {} if log is None else {broker: log})
        self.epoch_start_offset = current.epoch_start_offset
        self._epoch_due = current._epoch_due
        if self.leader != broker:
            return
        for other in self.replicas:
            if other != broker and other in current.logs:
                was = current.followers.get(other)
                caught_up_ms = NEVER_MS if was is None else was.caught_up_ms
                follower = self.followers[other] = Follower(other, current.logs[other], caught_up_ms)
                follower.end_offset = 0 if was is None else was.end_offset
                follower.state = FollowerState.CUT_OFF
        if self.leader_epoch == current.leader_epoch:
            # They wait at this broker, which goes on leading as far as it knows.
            self.unacknowledged, current.unacknowledged = current.unacknowledged, Awaited()

    def _begin(self) -> None:
        """It goes on as before, and nobody follows it."""

    def _plan_isr_check(self) -> None:
        """Its ISR stays, and the view is over once the broker has heard the news."""


def keep(cluster: "Cluster", partition: Partition) -> None:
    """Before the leader changes: brokers that won't hear of it now go on with what they know."""
    topic_id, index = partition.topic.id, partition.index
    registered = cluster.metadata.image.registered(topic_id, index)
    for broker, behind in cluster.metadata.behind.items():
        # It knows who leads. A leader knows the ISR too, which it has changed itself, whatever it has heard.
        if broker not in partition.views and behind.image.partition(topic_id, index) is not None:
            partition.views[broker] = StalePartition(partition, broker, registered)


def drop(partition: Partition, broker: int) -> Partition | None:
    """The broker has heard the news: what waits there is answered by it. What it knew, if that was old."""
    view = partition.views.pop(broker, None)
    if view is not None:
        _end(view)
    return view


def replace(partition: Partition, broker: int, registered: PartitionRegistration) -> None:
    """The broker has heard some news, and not the last: who leads since then is a step behind still."""
    knew = partition.views.get(broker)
    if knew is None or (knew.leader, knew.leader_epoch) == (registered.leader, registered.leader_epoch):
        return
    view = partition.views[broker] = StalePartition(partition, broker, registered)
    if registered.leader == broker:
        view.begin_epoch()
    # Who is answered now may ask again at once, and must meet the new view.
    _end(knew)


def _end(view: Partition) -> None:
    """Answers what waits there."""
    view.topic.cluster.cleanup.forget(view)
    view.release()
