"""DescribeDelegationToken: api key 41, v0 to v3 (KIP-48)."""

from dataclasses import dataclass, field

from .of_administrators import Principal


@dataclass(slots=True)
class DescribeDelegationTokenRequest:
    owners: list[Principal] | None = None


@dataclass(slots=True)
class DescribedDelegationToken(Principal):
    token_requester_principal_type: str = ""  # v3+
    token_requester_principal_name: str = ""  # v3+
    issue_timestamp: int = 0
    expiry_timestamp: int = 0
    max_timestamp: int = 0
    token_id: str = ""
    hmac: bytes = b""
    renewers: list[Principal] = field(default_factory=list)


@dataclass(slots=True)
class DescribeDelegationTokenResponse:
    error_code: int = 0
    tokens: list[DescribedDelegationToken] = field(default_factory=list)
    throttle_time_ms: int = 0
