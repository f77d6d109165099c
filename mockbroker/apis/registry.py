"""Finds the handler of an API, and what it declares: in the module named after it, which is imported at the
first request."""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey

Handler = Callable[[Call, Any], Any]
"""`(call, request) -> response`, or `Unanswered`."""
InSession = Callable[[Call, Any], Any]
"""`(call, request) -> request`: has a session go on, though no partition is looked at."""
AtOnce = Callable[[Call, Any, int, memoryview, int], Any]
"""`(call, codec, correlation id, frame, offset after the client id) -> frame of the answer`, or what a
handler returns; None for a request that it leaves to the handler."""

H = TypeVar("H", bound=Callable[..., Any])

REGISTERED: Final = frozenset(
    ApiKey[module.name.upper()]
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.upper() in ApiKey.__members__
)
"""The APIs that have a module, so that what is advertised is always what is answered."""


class Api(NamedTuple):
    """What a handler declares with `handles`."""

    handler: Handler
    changes: bool
    source: str
    usual_level: str | None
    in_session: InSession | None
    at_once: AtOnce | None
    codes: Mapping[str, str]


class _Handlers(dict[ApiKey, Handler]):
    def __missing__(self, api_key: ApiKey) -> Handler:
        self[api_key] = handler = declared(api_key).handler
        return handler


HANDLERS: Final = _Handlers()
_REGISTERED_SO_FAR: Final[dict[ApiKey, Api]] = {}
"""Includes handlers from modules that are still being imported."""


def declared(api_key: ApiKey) -> Api:
    # Another thread may be importing it for its cluster: this returns once the import is complete.
    importlib.import_module(f"{__package__}.{api_key.name.lower()}")
    return _REGISTERED_SO_FAR[api_key]


def handles(
    api_key: ApiKey,
    *,
    changes: bool,
    source: str,
    usual_level: str | None = None,
    in_session: InSession | None = None,
    at_once: AtOnce | None = None,
    **codes: str,
) -> Callable[[H], H]:
    """Registers a handler, which has to be in the module named after the API. One that yields is answered in
    parts.

    `changes` is whether it changes something, or waits: an error in place of the work then needs a made-up
    answer. `usual_level` is where a broker puts most errors, if that is not the innermost place.

    `in_session` is for requests of a session, which goes on before a broker looks at partitions. It takes the
    place of the handler where each of these is refused, and returns the request with all partitions that are
    answered, or raises ApiError for a request that fails as a whole.

    `at_once` answers common requests without their values, where neither a fault, nor the trace, nor an
    authorizer has to look at these.

    `codes` are the error codes that Kafka gives, by their level in the answer (`messages.places.places`), and
    `source` is where they are from: files of Kafka 4.3.1, 3.9.2, 2.8.2, 2.0.1 and 0.11.0.3, and the answers
    in `conformance/answers/`. Behind a code are the versions that have it, if not all do: `v2+`, `v0-1`; a
    code that a broker maps to another one for older versions is such a case. Levels with `_retry` have the
    codes after which the client should try again, perhaps after it has looked up a leader or a coordinator,
    or has joined its group again (RetriableException in Kafka's clients, and REBALANCE_IN_PROGRESS). Those
    that need an authorizer, that only brokers get, or that only some release gave are among the codes.
    UNKNOWN_SERVER_ERROR is not: it may be anywhere, for what a handler did not expect
    (AbstractRequest.getErrorResponse, Errors.forException).
    """

    def register(handler: H) -> H:
        whole = _in_parts(handler) if inspect.isgeneratorfunction(handler) else handler
        _REGISTERED_SO_FAR[api_key] = Api(
            whole, changes, " ".join(source.split()), usual_level, in_session, at_once, codes
        )
        return handler

    return register


def _in_parts(steps: Callable[..., Any]) -> Handler:
    @functools.wraps(steps)
    def handler(call: Call, request: Any) -> object:
        return call.in_parts(steps(call, request))

    return handler
