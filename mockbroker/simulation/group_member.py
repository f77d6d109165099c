"""What members of groups have in common whose coordinator assigns partitions: they look for it, send
heartbeats, and pause.

Each joins with a new id in each of its lives.
"""

from collections.abc import Callable
from typing import Any, Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from .client import NO_BROKER, RETRY_BACKOFF_MS, ModelClient
from .scene import Scene

JOINING: Final = 0
LEAVING: Final = -1
LOST: Final = frozenset({None, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
"""Answers after which the member must look up its coordinator again. None: no answer came."""
FENCED: Final = frozenset(
    {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}
)
REJOIN_MS: Final = 300
"""An application whose consumer failed starts it again after this time."""


class GroupMember(ModelClient):
    """A member of `group`. What kind of group it is, `_join` and `_beat` know."""

    def __init__(self, scene: Scene, name: str, speaks: dict[ApiKey, int], group: str) -> None:
        super().__init__(scene, name, speaks)
        self.group = group
        self.id = ""
        self.epoch = JOINING
        self.running = self._stopping = False
        self.known_coordinator = NO_BROKER
        self._lives = 0
        self._asking = self._finding = False
        self._due = 0
        self._held: list[Callable[[], None]] | None = None
        """What happens once a pause is over."""

    # -- what happens to it

    def start(self) -> None:
        """It joins, unless it runs."""
        if self._stopping:
            super().later(self.start)
        if self.running or self._stopping:
            return
        self._begin_life()
        self.running = True
        self.tell(f"starts as {self.id}")
        self._join()

    def _begin_life(self) -> None:
        self._lives += 1
        self.id = f"{self.name}/{self._lives}"

    def _end(self) -> None:
        self._turn += 1
        self._due += 1
        self.epoch, self.known_coordinator = JOINING, NO_BROKER
        self._asking = self._finding = False

    def pause(self, ms: int) -> None:
        """It does nothing for a while, as if its machine had stopped."""
        if self.running and self._held is None:
            self.tell(f"pauses for {ms} ms")
            self._held = []
            self.cluster.environment.after(ms, self.resume)

    def resume(self) -> None:
        if self._held is not None:
            held, self._held = self._held, None
            for each in held:
                each()

    # -- requests

    def send(
        self, broker: int, api: ApiKey, version: int, request: Any, then: Callable[[Any], None], lane: str
    ) -> None:
        """Sends a request; an answer that comes during a pause waits for its end."""

        def answered(answer: Any) -> None:
            self._unless_paused(lambda: then(answer))

        self.scene.network.send(self.name, broker, api, version, request, answered, lane)

    def ask(
        self, broker: int, api: ApiKey, request: Any, then: Callable[[Any], None], lane: str = ""
    ) -> None:
        self.send(broker, api, self.versions[api], request, then, lane)

    def later(self, action: Callable[[], None], delay_ms: int = RETRY_BACKOFF_MS) -> None:
        super().later(lambda: self._unless_paused(action), delay_ms)

    def _unless_paused(self, action: Callable[[], None]) -> None:
        if self._held is None:
            action()
        else:
            self._held.append(action)

    def refused(self, error: int | None) -> None:
        """Looks up the coordinator again if it does not coordinate any longer."""
        if error in LOST:
            self.known_coordinator = NO_BROKER
            if self.running:
                self._find()

    def _find(self) -> None:
        if self._finding:
            return
        self._finding = True
        brokers = self.scene.bootstrap
        request = FindCoordinatorRequest(coordinator_keys=[self.group], key=self.group)

        def answered(answer: FindCoordinatorResponse | None) -> None:
            self._finding = False
            if answer is None or answer.coordinators[0].error_code:
                self._soon(self._find)
                return
            self.known_coordinator = answer.coordinators[0].node_id
            self._beat()

        broker = brokers[self.random.randrange(0, len(brokers))]
        self.ask(broker, ApiKey.FIND_COORDINATOR, request, self.unless_over(answered), "finding")

    def _soon(self, action: Callable[[], None], delay_ms: int = RETRY_BACKOFF_MS) -> None:
        """Later, if it has not begun anew by then."""
        self.later(self.unless_over(action), delay_ms)

    # -- heartbeats

    def _beat_in(self, delay_ms: int) -> None:
        """The next heartbeat, unless there is one before."""
        self._due += 1
        due = self._due
        self.later(lambda: self._beat() if due == self._due and self.running else None, delay_ms)

    def _join(self) -> None:
        raise NotImplementedError

    def _beat(self) -> None:
        raise NotImplementedError
