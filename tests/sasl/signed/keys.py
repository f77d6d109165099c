"""Keys that sign tokens, those that brokers know and others. All are made when they are first used."""

import base64
import hmac
import json
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KNOWN: Final = ("rsa", "second", "ec", "okp", "secret", "small", "encryption")
"""Key ids of those that brokers know."""
_SECRET: Final = b"a secret that brokers and the issuer share"
_BITS: Final = {"small": 1024}


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@cache
def private(kid: str) -> Any:
    """The private key; RSA unless it is called otherwise."""
    if kid == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    if kid == "okp":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65537, _BITS.get(kid, 2048))


def _number(value: int) -> str:
    return text(value.to_bytes((value.bit_length() + 7) // 8))


def jwk(kid: str) -> dict[str, Any]:
    """The public key (RFC 7517)."""
    if kid == "secret":
        return {"kty": "oct", "kid": kid, "k": text(_SECRET)}
    public = private(kid).public_key()
    if kid == "ec":
        x, y = (text(each.to_bytes(32)) for each in (public.public_numbers().x, public.public_numbers().y))
        return {"kty": "EC", "kid": kid, "crv": "P-256", "x": x, "y": y}
    if kid == "okp":
        return {"kty": "OKP", "kid": kid, "crv": "Ed25519", "x": text(public.public_bytes_raw())}
    numbers = public.public_numbers()
    found = {"kty": "RSA", "kid": kid, "n": _number(numbers.n), "e": _number(numbers.e)}
    return {**found, "use": "enc"} if kid == "encryption" else found


def jwks() -> str:
    """The file of brokers. One of its keys is of a kind that nobody knows."""
    return json.dumps({"keys": [{"kty": "unknown", "kid": "unknown"}, *map(jwk, KNOWN)]})


def pem(kid: str) -> bytes:
    """A public key as a file has it."""
    found: bytes = private(kid).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return found


def _ecdsa(data: bytes, kid: str) -> bytes:
    r, s = decode_dss_signature(private(kid).sign(data, ec.ECDSA(SHA256())))
    return r.to_bytes(32) + s.to_bytes(32)


_PSS: Final = padding.PSS(padding.MGF1(SHA256()), 32)
SIGNED: Final[dict[str, Callable[[bytes, str], bytes]]] = {
    "RS256": lambda data, kid: bytes(private(kid).sign(data, padding.PKCS1v15(), SHA256())),
    "PS256": lambda data, kid: bytes(private(kid).sign(data, _PSS, SHA256())),
    "ES256": _ecdsa,
    "EdDSA": lambda data, kid: bytes(private(kid).sign(data)),
    "HS256": lambda data, kid: hmac.digest(_SECRET, data, "sha256"),
    "none": lambda data, kid: b"",
}


def token(
    claims: object, kid: str = "rsa", alg: Any = "RS256", *, signed: bytes | None = None, **header: Any
) -> str:
    """A token. `header` is added, and `header_kid` in place of the key's id; None takes away. `signed` is in
    place of the signature."""
    given = {"alg": alg, "kid": kid, **header}
    if "header_kid" in given:
        given["kid"] = given.pop("header_kid")
    given = {name: value for name, value in given.items() if value is not None}
    body = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    data = f"{text(json.dumps(given).encode())}.{text(body)}"
    return f"{data}.{text(SIGNED[alg](data.encode(), kid) if signed is None else signed)}"


def rs256(kid: str, data: str) -> str:
    """RS256."""
    return text(SIGNED["RS256"](data.encode(), kid))


def as_secret(claims: object, kid: str, header_kid: str | None = "rsa") -> str:
    """HS256, with the public key as the secret."""
    unsigned = token(claims, kid, "HS256", signed=b"", header_kid=header_kid).rstrip(".")
    return f"{unsigned}.{text(hmac.digest(pem(kid), unsigned.encode(), 'sha256'))}"
