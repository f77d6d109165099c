"""What a fault does to a request."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, TypeVar

from ..cluster import controller
from ..cluster.call import CLOSE, PARKED
from ..nearest import nearest
from ..protocol.api_keys import CODEC_VERSIONS, ApiKey
from ..protocol.errors import ErrorCode
from .about import about
from .answers import LEVELS, Errors, changed, refusal, refuses
from .exchange import Exchange
from .match import FaultError, Match

When = Literal["before", "after", "instead"]

A = TypeVar("A", bound="type[Action]")
ACTIONS: Final[dict[str, "type[Action]"]] = {}
"""By the name that users write."""


@dataclass
class Action(ABC):
    """The fields of a subclass are what a user may give, besides those of `Match`."""

    when: ClassVar[tuple[When, ...]] = ("before", "after")
    """When it may happen: the first is the default."""
    holds: ClassVar[bool] = False

    @abstractmethod
    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        """Does it; False when the request waits from now on, and goes on by `exchange.go_on`."""

    def check(self, match: Match) -> None:  # noqa: B027
        """FaultError for values that can't be."""

    def needs_answer(self, api: ApiKey) -> bool:
        """Whether it acts on a real answer, though it is not `after` the work."""
        return False


def _action(name: str) -> Callable[[A], A]:
    def register(kind: A) -> A:
        ACTIONS[name] = kind
        return kind

    return register


@_action("disconnect")
@dataclass
class Disconnect(Action):
    """The connection is closed, before the work or in place of its answer."""

    when = ("before", "after", "instead")

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        exchange.end(CLOSE)
        return True


@_action("silence")
@dataclass
class Silence(Action):
    """No answer ever, to this and to what is behind it on the connection."""

    when = ("before", "after", "instead")

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        exchange.end(PARKED)
        return True


@_action("hold")
@dataclass
class Hold(Action):
    """Waits until the fault is released."""

    holds = True

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        return True


@_action("delay")
@dataclass
class Delay(Action):
    """Takes `ms` longer, and a random part of `jitter_ms`."""

    ms: int
    jitter_ms: int = 0
    _random: random.Random | None = field(default=None, init=False, repr=False)

    def check(self, match: Match) -> None:
        for name, value in (("ms", self.ms), ("jitter_ms", self.jitter_ms)):
            if not isinstance(value, int) or value < 0:
                raise FaultError(f"{name} is {value!r}: give a number of milliseconds")
        self._random = random.Random(match.seed)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        assert self._random
        jitter = self._random.randrange(self.jitter_ms + 1)
        exchange.call.cluster.after(self.ms + jitter, exchange.go_on)
        return False


@_action("error")
@dataclass
class Error(Action):
    """An error code, by name or number, also one that Kafka does not have.

    `instead` of the work, or `after` it, in its answer; at the `level` that is usual, or at another one.
    """

    error: str | int
    level: str | None = None
    when = ("instead", "after")

    def check(self, match: Match) -> None:
        if self.level is not None and self.level not in LEVELS:
            raise FaultError(f"no level {self.level!r}{nearest(self.level, LEVELS)}")
        code = self.code
        if not -(1 << 15) <= code < 1 << 15:
            raise FaultError(f"error code {code} does not fit in two bytes")
        for api in match.api:
            Errors.of(api, CODEC_VERSIONS[api][1], code, match, self.level)

    @property
    def code(self) -> int:
        if isinstance(self.error, int):
            return int(self.error)
        try:
            return ErrorCode[self.error.upper()]
        except KeyError:
            names = [each.name for each in ErrorCode]
            raise FaultError(f"no error {self.error!r}{nearest(self.error, names)}") from None

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        errors = Errors.of(exchange.api, exchange.call.version, self.code, match, self.level)
        if exchange.has_answer:
            exchange.answer = changed(exchange.answer, exchange.call, errors)
        elif when == "instead":
            exchange.answer_with(changed(refusal(exchange.api, exchange.request), exchange.call, errors))
        return True

    def needs_answer(self, api: ApiKey) -> bool:
        return not refuses(api)


@dataclass
class _OfBroker(Action):
    """Something happens to broker `target`, which is the one that is asked if it is left out."""

    target: int | None = None

    def broker(self, exchange: Exchange) -> int:
        return exchange.call.broker.id if self.target is None else self.target


@_action("stop-broker")
@dataclass
class StopBroker(_OfBroker):
    """A broker goes down, in good order."""

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        controller.stop_broker(exchange.call.cluster, self.broker(exchange))
        return True


@_action("kill-broker")
@dataclass
class KillBroker(_OfBroker):
    """A broker dies and tells nobody."""

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        controller.kill_broker(exchange.call.cluster, self.broker(exchange))
        return True


@_action("start-broker")
@dataclass
class StartBroker(_OfBroker):
    """A broker comes back."""

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        controller.start_broker(exchange.call.cluster, self.broker(exchange))
        return True


@_action("move-leader")
@dataclass
class MoveLeader(Action):
    """The partitions that the request names get another leader of their ISR: `target`, or the next."""

    target: int | None = None

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        cluster = exchange.call.cluster
        for topic, index in sorted(about(exchange.api, exchange.request, cluster).partitions):
            partition = cluster.partition(topic, index)
            if partition is not None and match.covers(topic, index):
                controller.move_leader(cluster, partition, self.target)
        return True


@_action("move-coordinator")
@dataclass
class MoveCoordinator(Action):
    """The groups and transactional ids that the request names get another coordinator: `target`, or the
    next broker that has their records."""

    target: int | None = None

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        cluster = exchange.call.cluster
        what = about(exchange.api, exchange.request, cluster)
        moved = {cluster.offsets_partition(each) for each in what.groups}
        moved |= {cluster.transaction_partition(each) for each in what.transactional_ids}
        for partition in sorted(moved, key=lambda each: (each.topic.name, each.index)):
            controller.move_leader(cluster, partition, self.target)
        return True
