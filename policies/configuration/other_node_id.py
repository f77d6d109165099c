"""`other-node-id`: loggers are altered at another broker than the one that is asked.

A client gets INVALID_REQUEST. Up to 4.0 the message says that the broker's own id was received instead of
expected: `Unexpected node id. Expected 1, but received 1`; since 4.1 the id that was sent.
"""

from typing import Final, Literal

from ..behaviour import Switch

other_node_id: Final = Switch[Literal["own-id", "received-id"]](
    name="other-node-id",
    summary="which id was received, as the message about another node's loggers says",
    answers={"own-id": False, "received-id": True},
    history=(("0.11", "own-id"), ("4.1", "received-id")),
)
