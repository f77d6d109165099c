"""`refused-operation`: the message for an operation on the cluster that a principal may not do.

Clients are told since 4.1 which operation it is: `Request … needs ALTER permission.`; before,
`Request … is not authorized.`, and UnregisterBroker has no message.
"""

from typing import Final, Literal

from ..behaviour import Switch

refused_operation: Final = Switch[Literal["untold", "told"]](
    name="refused-operation",
    summary="whether a client is told which operation on the cluster it may not do",
    answers={"untold": False, "told": True},
    history=(("0.11", "untold"), ("4.1", "told")),
)
