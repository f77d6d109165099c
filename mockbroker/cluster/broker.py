"""One broker of the cluster: its address and what it alone knows."""

import enum
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..coordinators.groups import GroupCoordinator
    from .cluster import Cluster
    from .fetch_sessions import FetchSessions


class Liveness(enum.Enum):
    """Whether a broker runs."""

    RUNNING = "serves its clients"
    STOPPED = "was shut down"
    KILLED = "died without telling the controller"
    RETURNING = "was killed and started again: comes back when its session is over"


class Broker:
    """A broker. `host` and `port` are what Metadata tells clients; the shell sets them before it serves."""

    def __init__(self, cluster: "Cluster", broker_id: int) -> None:
        self.cluster = cluster
        self.id = broker_id
        self.host = "127.0.0.1"
        self.port = 9091 + broker_id
        self.liveness = Liveness.RUNNING
        self.fenced = False
        """Whether the controller knows that it is down: Metadata leaves it out then."""
        self.rack: str | None = cluster.configs.broker_text("broker.rack")

    @property
    def online(self) -> bool:
        return self.liveness is Liveness.RUNNING

    def forget_sessions(self) -> None:
        """Fetch sessions end with the process."""
        self.__dict__.pop("sessions", None)

    # Made at their first use, since most of their code is not needed to start.

    @cached_property
    def sessions(self) -> "FetchSessions":
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.cluster)

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from ..coordinators.groups import GroupCoordinator

        return GroupCoordinator(self.cluster, self)
