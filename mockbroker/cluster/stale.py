"""A partition as a broker knows it that has not heard of its new leader."""

from .awaited import Awaited
from .follower import Follower, FollowerState
from .partition import Partition


class StalePartition(Partition):
    """What was so when the broker was last told: leader, leader epoch, ISR. The log is the broker's own.

    If it led, it goes on leading for the clients that reach it. Its followers are gone, and its ISR stays as
    it is, since only the controller can change it: what is produced with acks=-1 waits in vain, unless it was
    alone.
    """

    __slots__ = ()

    def __init__(self, current: Partition, broker: int) -> None:
        super().__init__(current.topic, current.index, [broker])
        self.replicas = list(current.replicas)
        self.isr = list(current.isr)
        self.leader, self.leader_epoch = current.leader, current.leader_epoch
        self.epoch_start_offset = current.epoch_start_offset
        self._epoch_due = current._epoch_due
        self.logs = {broker: current.logs[broker]} if broker in current.logs else {}
        self.log = self.logs.get(broker, self.log)
        if self.leader == broker:
            self.unacknowledged, current.unacknowledged = current.unacknowledged, Awaited()
            for was in current.followers.values():
                follower = Follower(was.broker, was.log, was.caught_up_ms)
                follower.end_offset = was.end_offset
                follower.state = FollowerState.CUT_OFF
                self.followers[was.broker] = follower

    def _begin_to_follow(self) -> None:
        """Nobody follows it."""

    def _plan_isr_check(self) -> None:
        """Its ISR stays, and the view is over once the broker hears the controller again."""


def keep(partition: Partition) -> None:
    """Before the leader changes: brokers that won't hear of it go on with what they know."""
    for broker in partition.topic.cluster.brokers.values():
        if not broker.hears_controller and broker.id not in partition.views:
            partition.views[broker.id] = StalePartition(partition, broker.id)


def drop(partition: Partition, broker: int) -> Partition | None:
    """The broker has heard the news: what waits there is answered by it. What it knew, if that was old."""
    view = partition.views.pop(broker, None)
    if view is not None:
        partition.topic.cluster.cleanup.forget(view)
        view.release()
    return view
