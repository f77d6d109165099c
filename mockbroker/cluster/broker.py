"""One broker of the cluster: its address and what it alone knows."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..coordinators.groups import GroupCoordinator
    from ..coordinators.transactions import TransactionCoordinator
    from .cluster import Cluster
    from .fetch_sessions import FetchSessions


class Broker:
    """A broker. `host` and `port` are what Metadata tells clients; the shell sets them before it serves."""

    def __init__(self, cluster: "Cluster", broker_id: int) -> None:
        self.cluster = cluster
        self.id = broker_id
        self.host = "127.0.0.1"
        self.port = 9091 + broker_id
        self.online = True
        self.rack: str | None = cluster.configs.broker_text("broker.rack")

    # Made at their first use, since most of their code is not needed to start.

    @cached_property
    def sessions(self) -> "FetchSessions":
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.cluster)

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from ..coordinators.groups import GroupCoordinator

        return GroupCoordinator(self.cluster, self)

    @cached_property
    def transactions(self) -> "TransactionCoordinator":
        from ..coordinators.transactions import TransactionCoordinator

        return TransactionCoordinator(self.cluster, self)
