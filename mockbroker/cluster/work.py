"""Requests that take long are done in parts, so that a shell can answer others in between.

Within one part nothing else happens; between two parts anything may change.
"""

from collections import deque
from typing import Final

from ..environment import Environment
from ..outcome import PARKED, Asked, Steps

AT_ONCE: Final = 32
"""A request with no more parts than this is answered at once; most are."""


class Work:
    """The requests of a cluster that are done in parts. They take turns, one part each.

    Unless a shell promises to call `go_on` for as long as there are any (`in_parts`), every request is done
    at once.
    """

    def __init__(self, environment: Environment) -> None:
        self.in_parts = False
        self._environment = environment
        self.under_way: deque[tuple[Asked, Steps]] = deque()

    def __bool__(self) -> bool:
        return bool(self.under_way)

    def begin(self, call: Asked, steps: Steps) -> object:
        """The answer, or PARKED if it takes long: then it comes by the request's `answer`."""
        try:
            if self.in_parts:
                for _ in range(AT_ONCE):
                    next(steps)
            else:
                while True:
                    next(steps)
        except StopIteration as done:
            return done.value
        self.under_way.append((call, steps))
        return PARKED

    def go_on(self) -> None:
        """Does one part of the request whose turn it is."""
        call, steps = self.under_way.popleft()
        self._environment.contain(lambda: self._do_part(call, steps), call)

    def _do_part(self, call: Asked, steps: Steps) -> None:
        try:
            next(steps)
        except StopIteration as done:
            if done.value is not PARKED:
                call.answer(done.value)
        else:
            self.under_way.append((call, steps))
