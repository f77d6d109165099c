"""CreateDelegationToken: api key 38, v0 to v3 (KIP-48)."""

from dataclasses import dataclass, field

from .of_administrators import Principal


@dataclass(slots=True)
class CreateDelegationTokenRequest:
    owner_principal_type: str | None = ""  # v3+
    owner_principal_name: str | None = ""  # v3+
    renewers: list[Principal] = field(default_factory=list)
    max_lifetime_ms: int = 0
    """-1 for that of the broker."""


@dataclass(slots=True)
class CreateDelegationTokenResponse:
    """Times are -1 if there is no token."""

    error_code: int = 0
    principal_type: str = ""
    principal_name: str = ""
    token_requester_principal_type: str = ""  # v3+
    token_requester_principal_name: str = ""  # v3+
    issue_timestamp_ms: int = -1
    expiry_timestamp_ms: int = -1
    max_timestamp_ms: int = -1
    token_id: str = ""
    hmac: bytes = b""
    throttle_time_ms: int = 0
