"""AlterClientQuotas: api key 49, v0 and v1 (KIP-546)."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class EntityData:
    entity_type: str = ""
    entity_name: str | None = None
    """None for the default of that type."""


@dataclass(slots=True)
class OpData:
    key: str = ""
    value: float = 0.0
    remove: bool = False


@dataclass(slots=True)
class AlteredEntry:
    entity: list[EntityData] = field(default_factory=list)
    ops: list[OpData] = field(default_factory=list)


@dataclass(slots=True)
class AlterClientQuotasRequest:
    entries: list[AlteredEntry] = field(default_factory=list)
    validate_only: bool = False


@dataclass(slots=True)
class EntryData:
    error_code: int = 0
    error_message: str | None = None
    entity: list[EntityData] = field(default_factory=list)


@dataclass(slots=True)
class AlterClientQuotasResponse:
    throttle_time_ms: int = 0
    entries: list[EntryData] = field(default_factory=list)
