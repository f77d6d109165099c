"""ExpireDelegationToken: api key 40, v0 to v2 (KIP-48)."""

from dataclasses import dataclass

from .of_administrators import TokenExpiry


@dataclass(slots=True)
class ExpireDelegationTokenRequest:
    hmac: bytes = b""
    expiry_time_period_ms: int = 0


@dataclass(slots=True)
class ExpireDelegationTokenResponse(TokenExpiry):
    pass
