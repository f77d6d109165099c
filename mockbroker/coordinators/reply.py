"""An answer that may come at once or later."""

from typing import Generic, TypeVar

from ..outcome import PARKED
from ..protocol.messages.join_group import JoinGroupResponse
from ..protocol.messages.sync_group import SyncGroupResponse
from .home import Request

R = TypeVar("R")


class Reply(Generic[R]):
    """The answer to `call`: `complete` gives it, exactly once; the handler returns `outcome()`."""

    __slots__ = ("_parked", "_response", "call")

    def __init__(self, call: Request) -> None:
        self.call = call
        self._parked = False
        self._response: R | None = None

    def complete(self, response: R) -> None:
        """If the answer fails, that ends this request, and not what is done for others."""
        if self._parked:
            self.call.environment.contain(lambda: self.call.answer(response), self.call)
        else:
            self._response = response

    def fail(self, error: Exception) -> None:
        """Ends a waiting request; one whose handler still runs ends by what that raises."""
        if self._parked:
            self.call.environment.fail(error, self.call)

    def outcome(self) -> object:
        """The answer if there is one already, else PARKED."""
        if self._response is not None:
            return self._response
        self._parked = True
        return PARKED


Joining = Reply[JoinGroupResponse]
Syncing = Reply[SyncGroupResponse]
