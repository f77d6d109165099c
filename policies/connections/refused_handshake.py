"""`refused-handshake`: SaslHandshake on a connection without SASL (KAFKA-6246).

A client gets ILLEGAL_SASL_STATE. Up to 1.0 the answer nevertheless has `sasl.enabled.mechanisms`; since 1.1,
where mechanisms belong to listeners, it has none.
"""

from typing import Final, Literal

from ..behaviour import Switch

refused_handshake: Final = Switch[Literal["mechanisms-told", "no-mechanisms"]](
    name="refused-handshake",
    summary="whether SaslHandshake names mechanisms where there is no SASL",
    answers={"mechanisms-told": True, "no-mechanisms": False},
    history=(("0.11", "mechanisms-told"), ("1.1", "no-mechanisms")),
    ids=("KAFKA-6246",),
)
