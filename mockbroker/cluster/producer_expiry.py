"""When partitions forget idle producers (`LogManager`, "PeriodicProducerExpirationCheck")."""

from typing import TYPE_CHECKING

from ..policies.producers.producer_state_retention import producer_state_retention

if TYPE_CHECKING:
    from .cluster import Cluster

_CHECK_SETTING = "producer.id.expiration.check.interval.ms"


class ProducerExpiry:
    """Looks at all partitions at regular times, while there are producers that can expire."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._started_ms = cluster.environment.now_ms
        self._planned = False

    def plan(self) -> None:
        """A partition got a producer."""
        if not self._planned:
            self._planned = True
            interval_ms = self._cluster.environment.configs.broker_int(_CHECK_SETTING)
            since_last_ms = (self._cluster.environment.now_ms - self._started_ms) % interval_ms
            self._cluster.environment.after(interval_ms - since_last_ms, self._look)

    def _look(self) -> None:
        cluster, environment = self._cluster, self._cluster.environment
        self._planned = False
        expiration_ms = environment.configs.broker_int(environment.policies[producer_state_retention].setting)
        for topic in cluster.topics.values():
            for partition in topic.partitions:
                for log in partition.logs.values():
                    if log.producers.expire(environment.now_ms, expiration_ms):
                        self.plan()
