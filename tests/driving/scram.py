"""The client's side of SCRAM (RFC 5802), step by step."""

import base64
import hashlib
import hmac


class ScramClient:
    """One login. `nonce` is the client's, `more` are extensions such as `,tokenauth=true`; what it has to
    send comes from `first` and `final`."""

    def __init__(
        self,
        user: str,
        password: str,
        digest: str = "sha256",
        nonce: str = "rOprNGfwEbeRWgbNEkqO",
        more: str = "",
    ):
        self.user, self._password, self._digest, self.nonce = user, password.encode(), digest, nonce
        self._more = more
        self.server_first = ""
        self._message = ""
        self._salted = b""

    @property
    def first_bare(self) -> str:
        return f"n={self.user},r={self.nonce}{self._more}"

    def first(self, header: str = "n,,") -> bytes:
        return f"{header}{self.first_bare}".encode()

    @property
    def parts(self) -> dict[str, str]:
        """Of the server's first message."""
        return dict(each.split("=", 1) for each in self.server_first.split(","))

    def final(self, server_first: bytes, *, nonce: str | None = None) -> bytes:
        """What proves that the client has the password; with another nonce where one is given."""
        self.server_first = server_first.decode()
        parts = self.parts
        salt, iterations = base64.b64decode(parts["s"]), int(parts["i"])
        self._salted = hashlib.pbkdf2_hmac(self._digest, self._password, salt, iterations)
        without_proof = f"c=biws,r={nonce or parts['r']}"
        self._message = f"{self.first_bare},{self.server_first},{without_proof}"
        client_key = hmac.digest(self._salted, b"Client Key", self._digest)
        stored = hashlib.new(self._digest, client_key).digest()
        signature = hmac.digest(stored, self._message.encode(), self._digest)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def proves(self, server_final: bytes) -> bool:
        """Whether the server has proved that it knows the user."""
        key = hmac.digest(self._salted, b"Server Key", self._digest)
        expected = hmac.digest(key, self._message.encode(), self._digest)
        return server_final == b"v=" + base64.b64encode(expected)


def salted(password: str, salt: bytes, iterations: int, digest: str) -> bytes:
    return hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
