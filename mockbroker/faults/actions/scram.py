"""Answers to logins with SCRAM that no broker gives who knows the password (RFC 5802, sections 3 and 5.1)."""

from abc import abstractmethod
from dataclasses import dataclass, replace

from ...protocol.api_keys import ApiKey
from ..exchange import Exchange
from ..match import FaultError, Match
from .action import Action, When, action


@dataclass
class _OfScram(Action):
    """Changes one message of the server, and leaves its other answers alone."""

    when = ("after",)
    usual_api = ApiKey.SASL_AUTHENTICATE

    def check(self, match: Match) -> None:
        if match.api != (self.usual_api,):
            raise FaultError("only answers of api='SaslAuthenticate' have messages of SCRAM", "api")

    def nothing_to_do(self, exchange: Exchange, match: Match) -> str:
        if _message(exchange).startswith(self.begins):
            return ""
        return f"no answer came with the server's {self.which} message of SCRAM"

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        spoilt = self.spoilt(_message(exchange))
        exchange.answer = replace(exchange.answer, auth_bytes=spoilt)
        return True

    @property
    @abstractmethod
    def begins(self) -> bytes: ...

    @property
    @abstractmethod
    def which(self) -> str: ...

    @abstractmethod
    def spoilt(self, message: bytes) -> bytes: ...


def _message(exchange: Exchange) -> bytes:
    return bytes(exchange.answer.auth_bytes) if exchange.has_answer else b""


@action("wrong-signature")
@dataclass
class WrongSignature(_OfScram):
    """The broker proves by SCRAM that it knows another password than the client's: its last message has
    another signature. For the broker, the client has logged in."""

    unlike = "a broker that knows the client's password signs with it (RFC 5802)"
    begins = b"v="
    which = "last"

    def spoilt(self, message: bytes) -> bytes:
        # The first six bits of the signature: it stays Base64 of the same length.
        return b"v=" + (b"B" if message[2:3] == b"A" else b"A") + message[3:]


@action("wrong-nonce")
@dataclass
class WrongNonce(_OfScram):
    """The nonce in the broker's first message of SCRAM does not begin with the client's. The broker refuses a
    client that goes on with it."""

    unlike = "a broker's nonce begins with the client's (RFC 5802)"
    begins = b"r="
    which = "first"

    def spoilt(self, message: bytes) -> bytes:
        return b"r=" + (b"B" if message[2:3] == b"A" else b"A") + message[3:]
