"""Where requests are registered."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from mockbroker.protocol.api_keys import ApiKey

from ..many import Many

Requests = Callable[[Many], Iterator[Any]]
REQUESTS: Final[dict[tuple[ApiKey, str], Requests]] = {}


def about(key: ApiKey, what: str = "") -> Callable[[Requests], Requests]:
    def register(requests: Requests) -> Requests:
        REQUESTS[key, what] = requests
        return requests

    return register
