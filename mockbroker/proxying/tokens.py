"""Logins that go on without headers: those by SaslHandshake v0 (KIP-43)."""

from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.codecs import codec
from ..protocol.headers import MalformedRequestError, parse_header

_SENT: Final = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
"""How many tokens a client sends, each of which is answered by one."""


def tokens_follow(key: int, version: int) -> bool:
    """Whether tokens without headers come after this request."""
    return key == ApiKey.SASL_HANDSHAKE and version == 0


def tokens_after(frame: bytes) -> int:
    """How many, if this SaslHandshake succeeds. MalformedRequestError for a mechanism that is not known:
    where its tokens end is not, either."""
    mechanism = codec(ApiKey.SASL_HANDSHAKE, 0).decode(frame, parse_header(frame).size).mechanism
    if mechanism not in _SENT:
        raise MalformedRequestError(
            f"it logs in by {mechanism} with SaslHandshake v0, which a proxy can't pass on: let it use v1 "
            "(KIP-152), as clients since Kafka 1.0 do"
        )
    return _SENT[mechanism]
