"""SCRAM (RFC 5802, RFC 7677, `ScramSaslServer.java`): the password itself is never sent."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from ..controller.scram import HASHES, NUMBERS
from ..metadata.records import UserScramCredentialRecord
from .mechanism import NAME, InvalidLoginError, lenient_text
from .plain import check_acting

_BASE64: Final = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_VALUE: Final = r"[\x01-\x2b\x2d-\x7f]+"
_NONCE: Final = r"[\x21-\x2b\x2d-\x7e]+"
_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<acting>{NAME}))?,(?:m={_VALUE},)?n=(?P<user>{NAME}),r=(?P<nonce>{_NONCE})"
    rf"(?P<more>(?:,[A-Za-z]+={_VALUE})*)"
)
_FINAL: Final = re.compile(
    rf"(?P<unproved>c=(?P<channel>{_BASE64}),r=(?P<nonce>{_NONCE}))(?:,[A-Za-z]+={_VALUE})*,p=(?P<proof>{_BASE64})"
)

Credentials = Callable[[str], UserScramCredentialRecord | None]
"""What a user logs in with, if there is such a user."""


class Token(NamedTuple):
    """Whom a delegation token lets in, until when (Unix time in ms), and by what."""

    owner: str
    expires_ms: int
    credential: UserScramCredentialRecord


Tokens = Callable[[str], Token | None]
"""By id."""


class Scram:
    """`nonce` is the server's part of it. With a delegation token its owner is the user."""

    def __init__(self, mechanism: str, credentials: Credentials, tokens: Tokens, nonce: str) -> None:
        self._digest = HASHES[NUMBERS[mechanism]]
        self._credentials = credentials
        self._tokens = tokens
        self._nonce = nonce
        self._named = self._as = ""
        self.token = False
        self._credential: UserScramCredentialRecord | None = None
        self._so_far = ""
        self.user: str | None = None
        self.expires_ms: int | None = None
        self._ends_ms: int | None = None

    def named(self, message: bytes) -> str:
        found = None if self._credential else _FIRST.fullmatch(lenient_text(message))
        return _name(found) if found else self._named

    def evaluate(self, message: bytes) -> bytes:
        text = lenient_text(message)
        return self._first(text) if self._credential is None else self._final(text, self._credential)

    def _first(self, text: str) -> bytes:
        found = _FIRST.fullmatch(text)
        if found is None:
            raise InvalidLoginError("no first message of SCRAM")
        self._named = named = _name(found)
        extensions = dict(each.split("=", 1) for each in found["more"].split(",") if each)
        self.token = extensions.get("tokenauth", "").lower() == "true"
        credential = self._of_token(named) if self.token else self._of_user(named)
        check_acting(found["acting"] or "", named)
        self._nonce = found["nonce"] + self._nonce
        salt = base64.b64encode(credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={credential.iterations}"
        self._credential = credential
        # As the server has kept it: an extension that is there twice makes every proof wrong.
        kept = "".join(f",{name}={value}" for name, value in extensions.items())
        self._so_far = f"n={found['user']},r={found['nonce']}{kept},{answer}"
        return answer.encode()

    def _of_user(self, name: str) -> UserScramCredentialRecord:
        self._as = name
        if (credential := self._credentials(name)) is None:
            raise InvalidLoginError("no such user")
        return credential

    def _of_token(self, token_id: str) -> UserScramCredentialRecord:
        """A token that has expired lets in until it is removed; its session is over then."""
        if (token := self._tokens(token_id)) is None:
            raise InvalidLoginError("no such delegation token")
        self._as, self._ends_ms = token.owner, token.expires_ms
        return token.credential

    def _final(self, text: str, credential: UserScramCredentialRecord) -> bytes:
        found = _FINAL.fullmatch(text)
        if found is None or found["nonce"] != self._nonce:
            raise InvalidLoginError("no final message of SCRAM, or of another exchange")
        message = f"{self._so_far},{found['unproved']}".encode()
        signature = hmac.digest(credential.stored_key, message, self._digest)
        proof = base64.b64decode(found["proof"])
        if len(proof) != len(signature):
            raise InvalidLoginError("a proof of another length")
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        if not hmac.compare_digest(hashlib.new(self._digest, client_key).digest(), credential.stored_key):
            raise InvalidLoginError("another password")
        self.user, self.expires_ms = self._as, self._ends_ms
        return b"v=" + base64.b64encode(hmac.digest(credential.server_key, message, self._digest))


def _name(first: re.Match[str]) -> str:
    return first["user"].replace("=2C", ",").replace("=3D", "=")
