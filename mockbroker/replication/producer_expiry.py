"""When a broker forgets idle producers (`LogManager`, "PeriodicProducerExpirationCheck")."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from ..environment import Environment
from ..policies.producers.producer_state_retention import producer_state_retention

if TYPE_CHECKING:
    from ..log.log import Log

_CHECK_SETTING: Final = "producer.id.expiration.check.interval.ms"


class ProducerExpiry:
    """Checks all logs of a broker at regular times, while there are producers that can expire."""

    def __init__(self, environment: Environment, logs: "Callable[[], Iterable[Log]]") -> None:
        self._environment = environment
        self._logs = logs
        self._started_ms = environment.now_ms
        self._planned = False

    def plan(self) -> None:
        """A partition has a new producer."""
        if not self._planned:
            self._planned = True
            interval_ms = self._environment.configs.broker_int(_CHECK_SETTING)
            since_last_ms = (self._environment.now_ms - self._started_ms) % interval_ms
            self._environment.after(interval_ms - since_last_ms, self._look)

    def _look(self) -> None:
        environment = self._environment
        self._planned = False
        expiration_ms = environment.configs.broker_int(environment.policies[producer_state_retention].setting)
        for log in self._logs():
            if log.producers.expire(environment.now_ms, expiration_ms):
                self.plan()
