"""Who gets, keeps and loses a delegation token (KIP-48, KIP-373, `DelegationTokenControlManager.java`)."""

import hmac
from collections.abc import Sequence
from typing import Final

from ..configs import Configs
from ..environment import Timer
from ..metadata.records import DelegationTokenRecord, RemoveDelegationTokenRecord
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.primitives import short_uuid
from .state import ControllerState

_KEYS: Final = ("delegation.token.secret.key", "delegation.token.master.key")
_MOST_AT_ONCE: Final = 1000
"""`MAX_RECORDS_PER_EXPIRATION`."""
_LONGEST_MS: Final = 2**63 - 1


def secret_key(configs: Configs) -> bytes | None:
    """What tokens are signed with; None if there are none."""
    found = (configs.broker_text(name) for name in _KEYS if name in configs.broker_keys)
    return next((each.encode() for each in found if each), None)


def hmac_of(key: bytes, token_id: str) -> bytes:
    """What proves that somebody has a token (`DelegationTokenManager.createHmac`)."""
    return hmac.digest(key, token_id.encode(), "sha512")


class DelegationTokens:
    """All times are Unix times in ms. Every method raises ApiError, in Kafka's order of checks."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        self._environment = state.environment
        self._began_ms = state.environment.now_ms
        self._ids: dict[bytes, str] = {}
        """By HMAC."""
        self._sweep: Timer | None = None

    def create(
        self, requester: str, owner: str, renewers: Sequence[str], lifetime_ms: int
    ) -> DelegationTokenRecord:
        """A new token. A lifetime that is not positive, or too long, is that of brokers."""
        key = self._key()
        now_ms, configs = self._environment.now_ms, self._environment.configs
        longest_ms = configs.broker_int("delegation.token.max.lifetime.ms")
        most_ms = _sum(now_ms, min(lifetime_ms, longest_ms) if lifetime_ms > 0 else longest_ms)
        expiry_ms = min(most_ms, _sum(now_ms, configs.broker_int("delegation.token.expiry.time.ms")))
        token_id = short_uuid(self._environment.new_uuid())
        token = DelegationTokenRecord(owner, requester, renewers, now_ms, most_ms, expiry_ms, token_id)
        self._ids[hmac_of(key, token_id)] = token_id
        self._state.write(token)
        self._sweep_later()
        return token

    def renew(self, principal: str, proof: bytes, period_ms: int) -> int:
        """The new expiry time. A period that is not positive, or too long, is that of brokers."""
        token, now_ms = self._token(proof), self._environment.now_ms
        if _is_over(token, now_ms):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        _check_may_renew(token, principal)
        longest_ms = self._environment.configs.broker_int("delegation.token.expiry.time.ms")
        period_ms = min(period_ms, longest_ms) if period_ms > 0 else longest_ms
        return self._ends(token, _sum(now_ms, period_ms))

    def expire(self, principal: str, proof: bytes, period_ms: int) -> int:
        """The new expiry time. With a negative period the token is removed."""
        token, now_ms = self._token(proof), self._environment.now_ms
        _check_may_renew(token, principal)
        if period_ms < 0:
            self._remove([token])
            return now_ms
        if _is_over(token, now_ms):
            raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        return self._ends(token, _sum(now_ms, period_ms))

    def _key(self) -> bytes:
        key = secret_key(self._environment.configs)
        if key is None:
            raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        return key

    def _token(self, proof: bytes) -> DelegationTokenRecord:
        self._key()
        token_id = self._ids.get(proof)
        if token_id is None:
            raise ApiError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return self._state.image.delegation_tokens[token_id]

    def _ends(self, token: DelegationTokenRecord, expiry_ms: int) -> int:
        expiry_ms = min(token.max_timestamp, expiry_ms)
        self._state.write(token._replace(expiration_timestamp=expiry_ms))
        return expiry_ms

    # -- tokens that are over

    def _sweep_later(self) -> None:
        """The controller looks at fixed intervals; while there are no tokens, it need not."""
        if self._sweep is None:
            interval_ms = self._environment.configs.broker_int("delegation.token.expiry.check.interval.ms")
            since_ms = (self._environment.now_ms - self._began_ms) % interval_ms
            self._sweep = self._environment.after(interval_ms - since_ms, self._sweep_now)

    def _sweep_now(self) -> None:
        now_ms = self._environment.now_ms
        over = [each for each in self._state.image.delegation_tokens.values() if _is_over(each, now_ms)]
        self._remove(over[:_MOST_AT_ONCE])
        self._sweep = None
        if len(over) > _MOST_AT_ONCE:
            self._sweep = self._environment.after(0, self._sweep_now)
        elif self._ids:
            self._sweep_later()

    def _remove(self, tokens: Sequence[DelegationTokenRecord]) -> None:
        key = self._key()
        for each in tokens:
            del self._ids[hmac_of(key, each.token_id)]
        self._state.write(*(RemoveDelegationTokenRecord(each.token_id) for each in tokens))


def _is_over(token: DelegationTokenRecord, now_ms: int) -> bool:
    return token.max_timestamp < now_ms or token.expiration_timestamp < now_ms


def _check_may_renew(token: DelegationTokenRecord, principal: str) -> None:
    if principal != token.owner and principal not in token.renewers:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


def _sum(now_ms: int, duration_ms: int) -> int:
    return min(now_ms + duration_ms, _LONGEST_MS)
