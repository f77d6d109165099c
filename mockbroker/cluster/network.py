"""Brokers that are cut off from other brokers or from the controller, and rejoin."""

from collections.abc import Iterable, Mapping

from ..controller import elections
from ..controller.controller import Controller
from ..replication.states import FollowerEvent
from .broker import Broker
from .news import News
from .processes import Processes


class Network:
    """The network between `brokers`. Each method raises KeyError for a broker that is not there."""

    def __init__(
        self, brokers: Mapping[int, Broker], controller: Controller, news: News, processes: Processes
    ) -> None:
        self._brokers = brokers
        self._controller = controller
        self._news = news
        self._processes = processes

    def cut_off(self, broker: int, others: Iterable[int], *, from_controller: bool) -> None:
        """Cuts a broker off from `others`, and from the controller, which fences it once its session has
        timed out.

        Until it rejoins, it serves clients with the leaders that it knew.
        """
        one = self._brokers[broker]
        for other in [self._brokers[each] for each in others if each != broker]:
            one.unreachable.add(other.id)
            other.unreachable.add(broker)
        for each in (one, *(self._brokers[other] for other in one.unreachable)):
            for partition in each.replicas:
                if partition.fetcher is not None and partition.leader in each.unreachable:
                    partition.fetcher.on(FollowerEvent.LOSE)
        if from_controller and one.hears_controller:
            one.hears_controller = False
            self._controller.metadata.fall_behind(broker)
            self._controller.lose_contact(broker, f"broker {broker} was cut off from the controller")

    def rejoin(self, broker: int) -> None:
        """Reconnects a broker that was cut off: it learns who leads, and truncates its logs accordingly."""
        one = self._brokers[broker]
        if one.hears_controller and not one.unreachable:
            return
        one.hears_controller = True
        if one.online and self._controller.is_registered(broker):
            # Others register when they are started.
            self._controller.unfence(broker)
        others = [self._brokers[other] for other in one.unreachable]
        for other in others:
            other.unreachable.discard(broker)
        one.unreachable.clear()
        with self._controller.reasons.because(f"broker {broker} is no longer cut off"):
            elections.elect_where_none_leads(self._controller)
        self._news.catch_up(broker)
        for each in (one, *others):
            each.replicas.retry()
        self._processes.come_back(broker)
