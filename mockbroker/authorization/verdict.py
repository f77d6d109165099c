"""What an authorizer makes of a request."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from ..cluster.authorizer import Asker
from ..cluster.call import Call


class Verdict(NamedTuple):
    """The handler gets `request`, which may name less than the client's. `then` changes its answer, in parts
    if it is a generator. With an `answer`, the handler is not called."""

    request: Any
    answer: Any = None
    then: Callable[[Any], Any] | None = None

    def after(self, change: Callable[[Any], Any]) -> "Verdict":
        """`change` is made to the handler's answer before `then` is."""
        then = self.then
        if then is None:
            return self._replace(then=change)

        def both(answer: Any) -> Generator[None, None, Any]:
            return (yield from _whole(then((yield from _whole(change(answer))))))

        return self._replace(then=both)


def _whole(found: Any) -> Generator[None, None, Any]:
    """What was changed at once, or in parts."""
    return (yield from found) if isinstance(found, Generator) else found


Judging = Generator[None, None, Verdict]
Rule = Callable[[Asker, Call, Any], Verdict | Judging]
"""Yields if a request may name much."""
Walk = Callable[[Asker, Call, Any], Judging]
"""A rule that always does."""


class GuardedCall(Call):
    """A call whose handler may ask itself what the client may do."""

    __slots__ = ("asker",)
