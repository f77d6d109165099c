"""The keys that signed tokens are checked with: a JWK set (RFC 7517)."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..errors import OptionError
from ..extras import MissingExtraError

MOST_BYTES: Final = 1 << 20
MOST_KEYS: Final = 1_000
"""Keys of a set: a token without a key id is looked up among all of them."""
_LEAST_BITS: Final[Mapping[str, int]] = {"RSA": 2048, "HS256": 256, "HS384": 384, "HS512": 512}
"""By kind of key or algorithm, how long a key has to be (`KeyValidationSupport` of jose4j, RFC 7518, 3.2)."""
_KINDS: Final = {"HS": "oct", "RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""Of keys, by how an algorithm is called."""
_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "ES256K": "secp256k1"}
_ALGORITHMS: Final = (
    *(f"{kind}{bits}" for kind in ("HS", "RS", "PS", "ES") for bits in (256, 384, 512)),
    *("ES256K", "EdDSA"),
)


@dataclass(frozen=True)
class Key:
    """`given` are its fields in the file, `key` what joserfc makes of them."""

    given: Mapping[str, Any]
    key: Any

    def verifies(self, algorithm: str, data: bytes, signature: bytes) -> bool:
        """Whether the signature is right."""
        from joserfc.errors import JoseError
        from joserfc.jws import JWSRegistry

        if self._bits < _LEAST_BITS.get(algorithm, _LEAST_BITS.get(self.given["kty"], 0)):
            return False
        known = JWSRegistry.algorithms[algorithm]
        try:
            known.check_key(self.key)
            return bool(known.verify(data, signature, self.key))
        except (JoseError, ValueError):
            return False

    @property
    def _bits(self) -> int:
        if self.given["kty"] == "oct":
            return 8 * len(self.key.raw_value)
        return int(getattr(self.key.raw_value, "key_size", 0))


class KeySet(Protocol):
    """The keys that brokers know at the time."""

    def chosen(self, header: Mapping[str, Any]) -> Key | None:
        """The key that a token names, or the first that may be meant; None if there is none
        (`VerificationJwkSelector` of jose4j). OptionError if what has them can't be read."""


@dataclass(frozen=True)
class Keys:
    """What a file has of use, in its order."""

    keys: tuple[Key, ...]

    @classmethod
    def of(cls, text: str) -> "Keys":
        """Reads a file; keys of an unknown kind are left out, as by Kafka. OptionError, MissingExtraError."""
        try:
            from joserfc import jwk  # noqa: F401
        except ImportError:
            raise MissingExtraError("signed tokens are checked by joserfc", "security") from None
        try:
            found = json.loads(text)
            entries = found["keys"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise OptionError("no JWKS: there is no object with a list of keys") from None
        if not isinstance(entries, list):
            raise OptionError("no JWKS: its keys are no list")
        if len(entries) > MOST_KEYS:
            raise OptionError(f"the JWKS has {len(entries)} keys: give one with no more than {MOST_KEYS}")
        with warnings.catch_warnings():
            # Of weak keys, which verify nothing.
            warnings.simplefilter("ignore")
            keys = tuple(key for each in entries if (key := _key(each)) is not None)
        if not keys:
            raise OptionError("the JWKS has no key that could be used: no token could be taken")
        return cls(keys)

    def chosen(self, header: Mapping[str, Any]) -> Key | None:
        algorithm, kid = header["alg"], header.get("kid")
        kind, curve = _KINDS[algorithm[:2]], _CURVES.get(algorithm)
        found = [
            each
            for each in self.keys
            if (kid is None or each.given.get("kid") == kid)
            and each.given["kty"] == kind
            and each.given.get("use") in (None, "sig")
            and "verify" in each.given.get("key_ops", ("verify",))
        ]
        for name, wanted in (("alg", algorithm), ("crv", curve)):
            if len(found) > 1 and wanted is not None:
                found = [each for each in found if each.given.get(name) in (None, wanted)]
        return found[0] if found else None


def knows(algorithm: object) -> bool:
    """Whether brokers know an algorithm that signs."""
    return algorithm in _ALGORITHMS


def _key(given: Any) -> Key | None:
    from joserfc import jwk
    from joserfc.errors import JoseError

    try:
        return Key(given, jwk.import_key(given))
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        return None
