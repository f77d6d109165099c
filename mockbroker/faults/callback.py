"""A user's function that decides what happens to a request."""

import inspect
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import MockBrokerError
from .actions import Action, When
from .client_request import ClientRequest
from .exchange import Exchange
from .match import FaultError, Match


class CallbackError(MockBrokerError):
    """A function that was given to `cluster.on` raised, or asked for something impossible; see its cause."""


@dataclass
class Callback(Action):
    """Calls `function` with a ClientRequest. It has no name, because it can only be used from Python."""

    function: Callable[[Any], None]

    def check(self, match: Match) -> None:
        given = self.function
        if not callable(given):
            raise FaultError(f"{given!r} is not a function: give one that takes the request")
        if inspect.iscoroutinefunction(given) or inspect.isasyncgenfunction(given):
            raise FaultError(
                f"{name_of(given)} is asynchronous: give a plain function, since the cluster calls it in its "
                "own thread and does not await it"
            )
        try:
            inspect.signature(given).bind(None)
        except TypeError as error:
            raise FaultError(f"{name_of(given)} can't be called with only the request: {error}") from None
        except ValueError:
            pass  # a builtin whose signature is not known

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        request = ClientRequest(exchange, match, done=when == "after")
        function: Callable[[ClientRequest], object] = self.function
        try:
            returned = function(request)
            if returned is not None:
                raise FaultError(
                    f"it returned {returned!r:.100}: say what happens by calling a method of the request, "
                    "such as request.disconnect(), and return nothing"
                )
            return request.carry_out()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # pytest.fail() raises no Exception
            raise CallbackError(
                f"the function {name_of(self.function)} that was given to cluster.on failed at {request!r}"
                f"{_where(error, self.function)}: {type(error).__name__}: {error}"
            ) from error


def name_of(function: object) -> str:
    """The function's name as its author wrote it."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).rpartition("<locals>.")[2]


def _where(error: BaseException, function: object) -> str:
    """The last line in the function's own file that led to the error."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
    return f" ({os.path.basename(str(file))}:{lines[-1]})" if lines else ""
