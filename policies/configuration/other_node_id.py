"""`other-node-id`: a request to change another broker's loggers.

A client gets INVALID_REQUEST. Up to 4.0 the message has the broker's own id as the one that was received:
`Unexpected node id. Expected 1, but received 1`. Since 4.1 it has the id that was sent.
"""

from typing import Final, Literal

from ..behaviour import Switch

other_node_id: Final = Switch[Literal["own-id", "received-id"]](
    name="other-node-id",
    summary="which id was received, as the message about another node's loggers says",
    answers={"own-id": False, "received-id": True},
    history=(("0.11", "own-id"), ("4.1", "received-id")),
)
