"""SCRAM (RFC 5802, RFC 7677, `ScramSaslServer.java`): the password itself is never sent."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final

from ..controller.scram import HASHES, NUMBERS
from ..metadata.records import UserScramCredentialRecord
from .mechanism import NAME, InvalidLoginError, lenient_text
from .plain import check_acting

_BASE64: Final = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_VALUE: Final = r"[\x01-\x2b\x2d-\x7f]+"
_NONCE: Final = r"[\x21-\x2b\x2d-\x7e]+"
_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<acting>{NAME}))?,(?P<bare>(?:m={_VALUE},)?n=(?P<user>{NAME}),r=(?P<nonce>{_NONCE})"
    rf"(?P<more>(?:,[A-Za-z]+={_VALUE})*))"
)
_FINAL: Final = re.compile(
    rf"(?P<unproved>c=(?P<channel>{_BASE64}),r=(?P<nonce>{_NONCE}))(?:,[A-Za-z]+={_VALUE})*,p=(?P<proof>{_BASE64})"
)

Credentials = Callable[[str], UserScramCredentialRecord | None]
"""What a user logs in with, if there is such a user."""


class Scram:
    """`nonce` is the server's part of it."""

    def __init__(self, mechanism: str, credentials: Credentials, nonce: str) -> None:
        self._digest = HASHES[NUMBERS[mechanism]]
        self._credentials = credentials
        self._nonce = nonce
        self._named = ""
        self._credential: UserScramCredentialRecord | None = None
        self._so_far = ""
        self.user: str | None = None
        self.expires_ms: int | None = None

    def evaluate(self, message: bytes) -> bytes:
        text = lenient_text(message)
        return self._first(text) if self._credential is None else self._final(text, self._credential)

    def _first(self, text: str) -> bytes:
        found = _FIRST.fullmatch(text)
        if found is None:
            raise InvalidLoginError("no first message of SCRAM")
        self._named = found["user"].replace("=2C", ",").replace("=3D", "=")
        # Kafka has no delegation tokens here: a client that logs in with one is unknown.
        credential = self._credentials(self._named)
        if credential is None or "tokenauth=true" in found["more"].split(","):
            raise InvalidLoginError("no such user")
        check_acting(found["acting"] or "", self._named)
        self._nonce = found["nonce"] + self._nonce
        salt = base64.b64encode(credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={credential.iterations}"
        self._credential = credential
        self._so_far = f"{found['bare']},{answer}"
        return answer.encode()

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
        self.user = self._named
        return b"v=" + base64.b64encode(hmac.digest(credential.server_key, message, self._digest))
