"""Finds the handler of an API: in the module named after it, which is imported at the first request."""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey

Handler = Callable[[Call, Any], Any]
"""`(call, request) -> response`, or `Unanswered`."""

H = TypeVar("H", bound=Callable[..., Any])

REGISTERED: Final = frozenset(
    ApiKey[module.name.upper()]
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.upper() in ApiKey.__members__
)
"""The APIs that have a module, so that what is advertised is always what is answered."""


class _Handlers(dict[ApiKey, Handler]):
    def __missing__(self, api_key: ApiKey) -> Handler:
        # Another thread may be importing it for its cluster: this returns once the import is complete.
        importlib.import_module(f"{__package__}.{api_key.name.lower()}")
        self[api_key] = handler = _REGISTERED_SO_FAR[api_key]
        return handler


HANDLERS: Final = _Handlers()
_REGISTERED_SO_FAR: Final[dict[ApiKey, Handler]] = {}
"""Includes handlers from modules that are still being imported."""


def handles(api_key: ApiKey) -> Callable[[H], H]:
    """Registers a handler, which has to be in the module named after the API. One that yields is answered in
    parts."""

    def register(handler: H) -> H:
        _REGISTERED_SO_FAR[api_key] = _in_parts(handler) if inspect.isgeneratorfunction(handler) else handler
        return handler

    return register


def _in_parts(steps: Callable[..., Any]) -> Handler:
    @functools.wraps(steps)
    def handler(call: Call, request: Any) -> object:
        return call.in_parts(steps(call, request))

    return handler
