"""DescribeDelegationToken: api key 41, v1 to v3 (KIP-48)."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class DescribeDelegationTokenOwner:
    principal_type: str = ""
    principal_name: str = ""


@dataclass(slots=True)
class DescribeDelegationTokenRequest:
    owners: list[DescribeDelegationTokenOwner] | None = None


@dataclass(slots=True)
class DescribedDelegationTokenRenewer:
    principal_type: str = ""
    principal_name: str = ""


@dataclass(slots=True)
class DescribedDelegationToken:
    principal_type: str = ""
    principal_name: str = ""
    token_requester_principal_type: str = ""  # v3+
    token_requester_principal_name: str = ""  # v3+
    issue_timestamp: int = 0
    expiry_timestamp: int = 0
    max_timestamp: int = 0
    token_id: str = ""
    hmac: bytes = b""
    renewers: list[DescribedDelegationTokenRenewer] = field(default_factory=list)


@dataclass(slots=True)
class DescribeDelegationTokenResponse:
    error_code: int = 0
    tokens: list[DescribedDelegationToken] = field(default_factory=list)
    throttle_time_ms: int = 0
