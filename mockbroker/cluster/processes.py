"""Brokers that are stopped, killed, and started again."""

from collections.abc import Iterator, Mapping

from ..controller import elections, reassignments
from ..controller.controller import Controller
from ..policies.epochs.restart_epoch import restart_epoch
from ..replication.states import FollowerEvent
from .broker import Broker
from .endpoint import Endpoint
from .liveness import Liveness
from .news import News
from .topic import Topic, TopicPartition


class Processes:
    """The processes of `brokers`. Each method raises KeyError for a broker that does not exist."""

    def __init__(
        self,
        brokers: Mapping[int, Broker],
        topics: Mapping[str, Topic],
        controller: Controller,
        news: News,
    ) -> None:
        self._brokers = brokers
        self._topics = topics
        self._controller = controller
        self._news = news
        self.changes = 0
        """How often the shell had to open or close listeners."""

    def stop(self, broker: int) -> None:
        """Shuts a broker down: it leaves each ISR that has another member, and others become leaders of its
        partitions."""
        with self._controller.reasons.because(f"broker {broker} was shut down"):
            self._stop(self._brokers[broker])

    def _stop(self, found: Broker) -> None:
        if found.online:
            found.replicas.stop_fetching()
            self._controller.shut_down(found.id)
        alone = self._is_alone and not found.environment.policies[restart_epoch].after_stop
        if self._go_offline(found, Liveness.STOPPED):
            self._controller.silence(found.id)
            if not alone:
                self._controller.fence(found.id)

    def kill(self, broker: int) -> None:
        """Kills a broker: its partitions get no new leader until its session has timed out.

        A cluster's only broker is also its controller: nothing is decided before it is back.
        """
        if self._go_offline(self._brokers[broker], Liveness.KILLED):
            if self._is_alone:
                self._controller.silence(broker)
            else:
                self._controller.lose_contact(broker, f"broker {broker} was killed")

    def start(self, broker: int) -> None:
        """Starts a broker again with its logs: it follows, or leads what nobody else may.

        A broker that was killed comes back once its session has timed out, because none can register with its
        id until then; nor can a broker that does not reach the controller.
        """
        found = self._brokers[broker]
        match found.liveness:
            case Liveness.KILLED if not found.fenced and not self._is_alone:
                found.liveness = Liveness.RETURNING
            case Liveness.STOPPED | Liveness.KILLED if not found.hears_controller:
                found.liveness = Liveness.RETURNING
            case Liveness.STOPPED | Liveness.KILLED:
                self._come_online(found)

    def open_listener(self, endpoint: Endpoint, *, opened: bool) -> None:
        """Opens or closes one listener of a broker. It stays so when the broker starts again."""
        endpoint.open = opened
        self.changes += 1

    def come_back(self, broker: int) -> None:
        """Lets a waiting broker register, once it reaches the controller and its old session has timed
        out."""
        found = self._brokers[broker]
        if found.liveness is Liveness.RETURNING and found.fenced and found.hears_controller:
            self._come_online(found)

    @property
    def _is_alone(self) -> bool:
        return len(self._brokers) == 1

    def _go_offline(self, found: Broker, liveness: Liveness) -> bool:
        """False if it was down already."""
        if not found.online:
            if found.liveness is Liveness.RETURNING:
                found.liveness = Liveness.KILLED
            return False
        found.replicas.close()
        found.liveness, found.closed_logs = liveness, liveness is Liveness.STOPPED
        found.groups.halt()
        found.halt_shares()
        self.changes += 1
        return True

    def _come_online(self, found: Broker) -> None:
        with self._controller.reasons.because(f"broker {found.id} is back"):
            self._return(found)

    def _return(self, found: Broker) -> None:
        controller, news, clean = self._controller, self._news, found.closed_logs
        if not clean:
            controller.killed(found.id)
        found.liveness = Liveness.RUNNING
        found.replicas.reopen(clean=clean)
        found.forget_sessions()
        self.changes += 1
        news.catch_up(found.id)
        controller.unfence(found.id)
        new_epoch = not clean and found.environment.policies[restart_epoch].after_kill
        for partition in self._partitions_on(found.id):
            begun = partition.begun(found.id)
            if partition.leader == found.id:
                if new_epoch:
                    partition.lose_leader()
                elif begun is not None:
                    begun.lead()
                if partition.topic.internal:
                    news.leadership_changed(found.id, partition.topic_id, partition.index)
            elections.elect(partition)
            reassignments.resume(partition, found.id)
            if begun is not None and begun.fetcher is not None:
                begun.fetcher.on(FollowerEvent.START)
        news.settle()

    def _partitions_on(self, broker: int) -> Iterator[TopicPartition]:
        for topic in self._topics.values():
            yield from (each for each in topic.partitions if broker in each.replicas)
