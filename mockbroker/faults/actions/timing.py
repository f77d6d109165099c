"""Actions by which answers are late, never sent, or held."""

import random
from dataclasses import dataclass, field
from typing import ClassVar

from ...outcome import CLOSE, NEVER, Unanswered
from ..exchange import End, Exchange
from ..match import Match
from .action import Action, When, action, check_number


@dataclass
class _Ends(Action):
    outcome: ClassVar[Unanswered] = CLOSE
    ending: ClassVar[End] = End.CLOSE
    when = ("before", "after", "instead")

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        exchange.end(self.outcome, self.ending)
        return True


@action("disconnect")
@dataclass
class Disconnect(_Ends):
    """The connection is closed, before the work or instead of its answer."""


@action("reset")
@dataclass
class Reset(_Ends):
    """Like `disconnect`, but by a TCP reset (RST), as from a load balancer or a process that died.

    The client sees "connection reset by peer" (ECONNRESET) instead of the end of the stream, and may lose
    answers that it has not read yet.
    """

    ending = End.RESET


@action("silence")
@dataclass
class Silence(_Ends):
    """The request is never answered, nor are those after it on the connection."""

    outcome = NEVER


@action("hold")
@dataclass
class Hold(Action):
    """The request waits until the fault is released."""

    holds = True

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        return True


@action("delay")
@dataclass
class Delay(Action):
    """The answer takes `ms` longer, plus a random part of `jitter_ms`."""

    ms: int
    jitter_ms: int = 0
    _random: random.Random | None = field(default=None, init=False, repr=False)

    def check(self, match: Match) -> None:
        check_number("ms", self.ms)
        check_number("jitter_ms", self.jitter_ms)
        self._random = random.Random(match.seed)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        assert self._random
        jitter = self._random.randrange(self.jitter_ms + 1)
        exchange.call.environment.wait(self.ms + jitter, exchange.go_on)
        return False


@action("watch")
@dataclass
class Watch(Action):
    """Nothing goes wrong: the requests are counted."""

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        return True
