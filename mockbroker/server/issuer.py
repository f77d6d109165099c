"""Issues the tokens with which clients log in by OAUTHBEARER: signed ones, by a key that a cluster has for
itself, or unsecured ones."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from ..cluster.cluster import Cluster
from ..control.access import Issued
from ..errors import ConflictError, OptionError
from ..extras import MissingExtraError
from ..nearest import nearest
from ..protocol.releases import parse
from ..sasl.jwks import MOST_BYTES, Key, Keys, KeySet
from ..sasl.oauthbearer import encoded
from ..security import HOUR_S, Security, TokenKind

FILE: Final = "jwks.json"
_KID: Final = "mockbroker"
_BITS: Final = 2048
_ALGORITHM: Final = "RS256"
_READ_AGAIN_SINCE: Final = parse("4.1")
_UNSECURED: Final = ("valid", "expired", "not-yet-valid")


class Issuer:
    """Of tokens for one cluster. `file` is its JWKS file and `keys` what brokers know of it; None where
    tokens are unsecured."""

    def __init__(self, security: Security, cluster: Cluster, folder: Path | None) -> None:
        """Writes the file into the folder, unless there is one. OptionError, MissingExtraError, OSError."""
        self._security = security
        self._cluster = cluster
        self._key: Any = None
        self.file: Path | None = None
        self.keys: KeySet | None = None
        if security.jwks is not None:
            self.file = Path(security.jwks)
            read_again = cluster.environment.release >= _READ_AGAIN_SINCE
            self.keys = FileKeys(self.file) if read_again else _read(self.file)
        elif folder is not None:
            self._key = _new_key(_KID)
            self.file = folder / FILE
            folder.mkdir(parents=True, exist_ok=True)
            text = _jwks(self._key)
            self.file.write_text(text)
            self.keys = Keys.of(text)

    def issue(
        self, user: str, kind: TokenKind, expires_in_s: int, scope: str | None, claims: Mapping[str, Any]
    ) -> Issued:
        """A token whose times clients accept too: they look at the wall clock. ConflictError, OptionError."""
        if kind not in get_args(TokenKind):
            raise OptionError(f"no kind of token {kind!r}{nearest(kind, get_args(TokenKind))}")
        if self.keys is None and kind not in _UNSECURED:
            raise OptionError(
                f"unsecured tokens are {', '.join(_UNSECURED)}: add signed_tokens=True for others"
            )
        if self.keys is not None and self._key is None:
            raise ConflictError("the cluster has a JWKS file of your own: sign tokens with a key of yours")
        if expires_in_s < 1:
            raise OptionError(
                "a token expires in a second or later: for one that has expired ask for 'expired'"
            )
        found = self._times(kind, expires_in_s) | self._claims(user, kind, scope) | dict(claims)
        given = {name: value for name, value in found.items() if value is not None}
        expires: Any = found["exp"]
        if not isinstance(expires, int | float):
            expires = 0
        return Issued(self._signed(given, kind), int(expires))

    def _times(self, kind: TokenKind, expires_in_s: int) -> dict[str, Any]:
        """The cluster's time may be another one than the wall clock's."""
        both = self._cluster.now_ms // 1000, int(time.time())
        if kind == "expired":
            skew_s = self._cluster.configs.broker_int("sasl.oauthbearer.clock.skew.seconds")
            expired = min(both) - skew_s - 1
            return {"iat": expired - expires_in_s, "exp": expired}
        if kind == "not-yet-valid":
            begins = max(both) + HOUR_S
            return {"iat": begins, "nbf": begins, "exp": begins + expires_in_s}
        return {"iat": min(both), "exp": max(both) + expires_in_s}

    def _claims(self, user: str, kind: TokenKind, scope: str | None) -> dict[str, Any]:
        security = self._security
        if kind == "another-issuer" and security.issuer is None:
            raise ConflictError("brokers take tokens of any issuer: give the cluster an issuer")
        if kind == "another-audience" and not security.audiences:
            raise ConflictError("brokers expect no audience: give the cluster one")
        return {
            "sub": user,
            security.sub_claim: user,
            security.scope_claim: scope,
            "iss": "https://another.invalid" if kind == "another-issuer" else security.issuer,
            "aud": "another" if kind == "another-audience" else next(iter(security.audiences), None),
        }

    def _signed(self, claims: Mapping[str, Any], kind: TokenKind) -> str:
        if self._key is None or kind == "unsigned":
            return f"{encoded({'alg': 'none'})}.{encoded(claims)}."
        from joserfc.jws import JWSRegistry

        header = {"alg": _ALGORITHM, "typ": "JWT", "kid": "unknown" if kind == "unknown-key" else _KID}
        data = f"{encoded(header)}.{encoded(claims)}"
        # To make another key takes a tenth of a second: what nobody signs tells brokers as little.
        signed = data if kind not in ("another-key", "unknown-key") else f"not {data}"
        return f"{data}.{encoded(JWSRegistry.algorithms[_ALGORITHM].sign(signed.encode(), self._key))}"


class FileKeys:
    """A `KeySet` of a file of one's own, which is read again when it has changed (`CachedFile.java`)."""

    def __init__(self, file: Path) -> None:
        """OptionError."""
        self._file = file
        self._changed_at = self._written_at()
        self._keys = _read(file)

    def chosen(self, header: Mapping[str, Any]) -> Key | None:
        if (written_at := self._written_at()) != self._changed_at:
            self._keys = _read(self._file)
            self._changed_at = written_at
        return self._keys.chosen(header)

    def _written_at(self) -> int:
        return self._file.stat().st_mtime_ns if self._file.exists() else 0


def _read(file: Path) -> Keys:
    """OptionError names the file."""
    try:
        with file.open("rb") as opened:
            text = opened.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise OptionError(f"it has more than {MOST_BYTES} bytes")
        return Keys.of(text.decode())
    except (OSError, UnicodeDecodeError, OptionError) as error:
        raise OptionError(f"the JWKS file {file} can't be used: {error}") from None


def _new_key(kid: str) -> Any:
    try:
        from joserfc.jwk import RSAKey
    except ImportError:
        raise MissingExtraError("tokens are signed by joserfc", "security") from None
    return RSAKey.generate_key(_BITS, {"kid": kid, "use": "sig", "alg": _ALGORITHM})


def _jwks(key: Any) -> str:
    return json.dumps({"keys": [key.as_dict(private=False)]}, indent=2) + "\n"
