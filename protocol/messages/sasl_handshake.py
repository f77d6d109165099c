"""SaslHandshake: api key 17, v0 to v1."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class SaslHandshakeRequest:
    mechanism: str = ""


@dataclass(slots=True)
class SaslHandshakeResponse:
    error_code: int = 0
    mechanisms: list[str] = field(default_factory=list)
