"""An answer that may come at once or later."""

from typing import TYPE_CHECKING, Generic, TypeVar

from ..cluster.call import PARKED

if TYPE_CHECKING:
    from ..cluster.call import Call

R = TypeVar("R")


class Reply(Generic[R]):
    """The answer to `call`: `complete` gives it, exactly once; a handler returns `outcome()`."""

    __slots__ = ("_parked", "_response", "call")

    def __init__(self, call: "Call") -> None:
        self.call = call
        self._parked = False
        self._response: R | None = None

    def complete(self, response: R) -> None:
        if self._parked:
            self.call.answer(response)
        else:
            self._response = response

    def outcome(self) -> object:
        """The answer if it is there already, else PARKED."""
        if self._response is not None:
            return self._response
        self._parked = True
        return PARKED
