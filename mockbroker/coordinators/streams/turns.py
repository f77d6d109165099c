"""What is done with a group in parts is done one after the other: nobody else changes it meanwhile."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ...environment import Nobody
from ...outcome import PARKED, Asked, Steps
from ..home import Home


class _Waiting(NamedTuple):
    asked: Asked
    steps: Steps


class Turns:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._environment = home.environment
        self._under_way: dict[str, deque[_Waiting]] = {}
        """By group, what waits for its turn."""

    def begin(self, group_id: str, asked: Asked, steps: Steps) -> object:
        """The answer, which is the result of `steps`; or PARKED if they take long, or have to wait."""
        if group_id in self._under_way:
            self._under_way[group_id].append(_Waiting(asked, steps))
            return PARKED
        self._under_way[group_id] = deque()
        return self._home.in_parts(asked, self._in_turn(group_id, steps))

    def call(self, group_id: str, then: Callable[[], None]) -> None:
        """Does something that is done at once, unless others have to be waited for."""
        if group_id in self._under_way:
            self._under_way[group_id].append(_Waiting(Nobody(self._environment), _once(then)))
        else:
            then()

    def _in_turn(self, group_id: str, steps: Steps) -> Steps:
        try:
            return (yield from steps)
        finally:
            self._next(group_id)

    def _next(self, group_id: str) -> None:
        if self._under_way[group_id]:
            self._environment.after(0, lambda: self._go_on(group_id))
        else:
            del self._under_way[group_id]

    def _go_on(self, group_id: str) -> None:
        asked, steps = self._under_way[group_id].popleft()

        def begin() -> None:
            answer = self._home.in_parts(asked, self._in_turn(group_id, steps))
            if answer is not PARKED:
                asked.answer(answer)

        if asked.gone:
            steps.close()
            self._next(group_id)
        else:
            self._environment.contain(begin, asked)


def _once(then: Callable[[], None]) -> Steps:
    then()
    yield
