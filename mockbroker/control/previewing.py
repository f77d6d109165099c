"""What a fault would have done to requests that came before it."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ..cluster.call import Call
from ..errors import ConflictError
from ..faults import Fault
from ..faults.match import parse_api
from ..faults.places import request_class
from ..outcome import Client
from ..trace.events import NOT_KEPT, Request
from ..trace.plain import remade

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..trace import Trace

LOOKED_AT: Final = 500
"""At how many of the last requests it is looked."""


def last_requests(trace: "Trace") -> list[Request]:
    """In the order in which they came."""
    last = (event for event in reversed(trace.events) if isinstance(event, Request))
    return list(islice(last, LOOKED_AT))[::-1]


def touched_by(fault: Fault, cluster: "Cluster", requests: Iterable[Request]) -> list[int]:
    """The numbers of the requests on which a fault that is in no cluster would have acted. May be called in
    any thread. ConflictError if what requests named was not kept."""
    return [each.number for each in requests if _would_touch(fault, cluster, each)]


def _would_touch(fault: Fault, cluster: "Cluster", event: Request) -> bool:
    api = parse_api(event.api)
    call = Call(cluster, cluster.brokers[event.broker], event.version, Client(), event.client_id, _unanswered)
    if not fault.match.names_anything:
        return fault.wants(api, call, None)
    if not fault.match.concerns(api):
        return False
    if event.body is NOT_KEPT:
        raise ConflictError(
            "what requests named is not known, since bodies are not kept: make the cluster with trace=True"
        )
    return fault.wants(api, call, remade(request_class(api), event.body))


def _unanswered(_: Call, answer: Any) -> None:
    """Nobody waits for an answer."""
