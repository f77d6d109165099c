"""AlterUserScramCredentials: api key 51, v0 (KIP-554)."""

from dataclasses import dataclass, field

from .common import Throttled
from .places import places


@dataclass(slots=True)
class ScramCredentialDeletion:
    name: str = ""
    mechanism: int = 0


@dataclass(slots=True)
class ScramCredentialUpsertion:
    name: str = ""
    mechanism: int = 0
    iterations: int = 0
    salt: bytes = b""
    salted_password: bytes = b""


@dataclass(slots=True)
class AlterUserScramCredentialsRequest:
    deletions: list[ScramCredentialDeletion] = field(default_factory=list)
    upsertions: list[ScramCredentialUpsertion] = field(default_factory=list)


@dataclass(slots=True)
class AlterUserScramCredentialsResult:
    user: str = ""
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class AlterUserScramCredentialsResponse(Throttled):
    results: list[AlterUserScramCredentialsResult] = places("resource", "deletions", "upsertions")
