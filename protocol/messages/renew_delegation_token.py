"""RenewDelegationToken: api key 39, v1 and v2 (KIP-48)."""

from dataclasses import dataclass


@dataclass(slots=True)
class RenewDelegationTokenRequest:
    hmac: bytes = b""
    renew_period_ms: int = 0


@dataclass(slots=True)
class RenewDelegationTokenResponse:
    """The time is -1 if there is no token."""

    error_code: int = 0
    expiry_timestamp_ms: int = -1
    throttle_time_ms: int = 0
