"""DescribeUserScramCredentials: api key 50, v0 (KIP-554)."""

from dataclasses import dataclass, field

from .common import TopCode
from .places import places


@dataclass(slots=True)
class UserName:
    name: str = ""


@dataclass(slots=True)
class DescribeUserScramCredentialsRequest:
    users: list[UserName] | None = None
    """None or empty for all."""


@dataclass(slots=True)
class CredentialInfo:
    mechanism: int = 0
    iterations: int = 0


@dataclass(slots=True)
class DescribeUserScramCredentialsResult:
    user: str = ""
    error_code: int = 0
    error_message: str | None = ""
    credential_infos: list[CredentialInfo] = field(default_factory=list)


@dataclass(slots=True)
class DescribeUserScramCredentialsResponse(TopCode):
    error_message: str | None = ""
    results: list[DescribeUserScramCredentialsResult] = places("resource", "users")
