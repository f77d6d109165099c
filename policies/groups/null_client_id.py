"""`null-client-id`: how a member that sent no client id is named (KAFKA-13385).

A client sees `null` at the beginning of its member id (`null-6f53c71d-...`), and tools see it in
DescribeGroups. Since 3.1 it is empty.
"""

from typing import Final

from ..behaviour import Behaviour

null_client_id: Final = Behaviour[str](
    name="null-client-id",
    summary="the client id of a member that sent none",
    answers={"null": "null", "empty": ""},
    history=(("0.11", "null"), ("3.1", "empty")),
    ids=("KAFKA-13385",),
)
