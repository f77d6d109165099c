"""Requests that take long are done in parts, so that a shell can answer others in between.

Within one part nothing else happens; between two parts anything may change.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from ..environment import Environment
from ..outcome import PARKED, Asked, Steps

AT_ONCE: Final = 32
"""A request with no more steps than this is answered at once; most are."""


class Work:
    """The requests of a cluster that are done in parts. They take turns.

    Unless a shell promises to call `go_on` for as long as there are any (`in_parts`), every request is done
    at once.
    """

    def __init__(self, environment: Environment) -> None:
        self.in_parts = False
        self.at_once = AT_ONCE
        self._environment = environment
        self.under_way: deque[tuple[Asked, Steps]] = deque()

    def __bool__(self) -> bool:
        return bool(self.under_way)

    def begin(self, call: Asked, steps: Steps) -> object:
        """The answer, or PARKED if it takes long: then it comes by the request's `answer`."""
        try:
            if self.in_parts:
                for _ in range(self.at_once):
                    next(steps)
            else:
                while True:
                    next(steps)
        except StopIteration as done:
            return done.value
        self.under_way.append((call, steps))
        return PARKED

    def go_on(self, enough: Callable[[], bool] = lambda: True) -> None:
        """Does a step of the request whose turn it is, and further ones until there are `enough`."""
        call, steps = self.under_way.popleft()
        if call.gone:
            steps.close()
            return
        self._environment.contain(lambda: self._do(call, steps, enough), call)

    def _do(self, call: Asked, steps: Steps, enough: Callable[[], bool]) -> None:
        try:
            while True:
                next(steps)
                if enough():
                    break
        except StopIteration as done:
            if done.value is not PARKED:
                call.answer(done.value)
        else:
            self.under_way.append((call, steps))
