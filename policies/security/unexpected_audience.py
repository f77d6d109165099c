"""`unexpected-audience`: a signed token that has an audience, where brokers are told of none.

A client may log in with it since 4.4, if `sasl.oauthbearer.allow.unverified.audience` is set. Earlier
releases refuse the token, because they expect no audience at all (`JwtConsumerBuilder` of jose4j).
"""

from typing import Final, Literal

from ..behaviour import Switch

unexpected_audience: Final = Switch[Literal["refused", "taken"]](
    name="unexpected-audience",
    summary="whether a signed token may have an audience where sasl.oauthbearer.expected.audience is not set",
    answers={"refused": False, "taken": True},
    history=(("0.11", "refused"), ("4.4", "taken")),
)
