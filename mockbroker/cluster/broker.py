"""One broker of the cluster: its address and what it alone knows."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..coordinators.groups import GroupCoordinator
    from ..policies import Policies
    from .cluster import Cluster
    from .fetch_sessions import FetchSessions
    from .timers import Timer


class Broker:
    """A broker. `host` and `port` are what Metadata tells clients; the shell sets them before it serves."""

    def __init__(self, cluster: "Cluster", broker_id: int, rack: str | None) -> None:
        self.cluster = cluster
        self.id = broker_id
        self.host = "127.0.0.1"
        self.port = 9091 + broker_id
        self.online = True
        self.hears_controller = True
        """False while it is cut off from the controller: it goes on with the leaders it knew."""
        self.session: Timer | None = None
        """Fires when the controller takes it for dead."""
        self.fenced = False
        """Whether the controller took it out, since its session timed out."""
        self.unreachable: set[int] = set()
        """Brokers it is cut off from."""
        self.known_brokers: frozenset[int] | None = None
        """What it tells clients of while it does not hear the controller."""
        self.dead_fetchers: dict[int, str] = {}
        """Why a fetcher thread died, by the broker it fetched from."""
        self.rack = rack

    @property
    def listed(self) -> bool:
        """Whether the controller takes it for alive, and clients are told of it."""
        return self.online and not self.fenced

    @property
    def electable(self) -> bool:
        """Whether it may lead: it has to hear of it."""
        return self.listed and self.hears_controller

    @property
    def policies(self) -> "Policies":
        """The answers in force on this broker."""
        return self.cluster.policies.at(broker=self.id)

    # Made at their first use, since most of their code is not needed to start.

    @cached_property
    def sessions(self) -> "FetchSessions":
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.cluster)

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from ..coordinators.groups import GroupCoordinator

        return GroupCoordinator(self.cluster, self)
