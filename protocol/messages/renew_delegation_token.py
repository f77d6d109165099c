"""RenewDelegationToken: api key 39, v0 to v2 (KIP-48)."""

from dataclasses import dataclass

from .of_administrators import TokenExpiry


@dataclass(slots=True)
class RenewDelegationTokenRequest:
    hmac: bytes = b""
    renew_period_ms: int = 0


@dataclass(slots=True)
class RenewDelegationTokenResponse(TokenExpiry):
    pass
