"""TLS handshakes that go wrong."""

from typing import Annotated, TypedDict

from ..verbs.finding import find_broker
from .registry import operation
from .target import Target


class HandshakeState(TypedDict):
    """`how` handshakes go wrong, null if they don't; `left` is how many more will, null if all will; `hits`
    how many did, since the last `break`."""

    how: str | None
    broker: int | None
    left: int | None
    hits: int


@operation("handshakes show", "GET", "/handshakes")
def show(target: Target) -> HandshakeState:
    """Shows how TLS handshakes go wrong, and how many did."""
    found = target.access.handshakes()
    return {"how": found.how, "broker": found.broker, "left": found.left, "hits": found.hits}


@operation("handshakes break", "POST", "/handshakes/break")
def break_(
    target: Target,
    how: Annotated[
        str,
        "stall: the client gets no answer; cut: the connection is closed in the midst; plain-text: the "
        "answer is no TLS.",
    ],
    broker: Annotated[int | None, "Only to this broker."] = None,
    times: Annotated[int | None, "How many times; for ever if left out."] = None,
) -> HandshakeState:
    """Has TLS handshakes go wrong of clients that connect from now on."""
    if broker is not None:
        find_broker(target.cluster, broker)
    target.access.handshakes().break_(how, broker, times)
    return show(target)


@operation("handshakes mend", "POST", "/handshakes/mend")
def mend(target: Target) -> HandshakeState:
    """Has TLS handshakes succeed again."""
    target.access.handshakes().mend()
    return show(target)
