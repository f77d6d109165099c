"""DescribeClientQuotas: api key 48, v0 and v1 (KIP-546)."""

from dataclasses import dataclass, field

from .common import TopCode
from .of_administrators import QuotaEntity
from .places import places


@dataclass(slots=True)
class ComponentData:
    entity_type: str = ""
    match_type: int = 0
    """0: the entity that is named `match`; 1: the default; 2: any."""
    match: str | None = None


@dataclass(slots=True)
class DescribeClientQuotasRequest:
    components: list[ComponentData] = field(default_factory=list)
    strict: bool = False
    """Whether entities may have no other types than those of the components."""


@dataclass(slots=True)
class ValueData:
    key: str = ""
    value: float = 0.0


@dataclass(slots=True)
class EntryData:
    entity: list[QuotaEntity] = field(default_factory=list)
    values: list[ValueData] = field(default_factory=list)


@dataclass(slots=True)
class DescribeClientQuotasResponse(TopCode):
    error_message: str | None = ""
    entries: list[EntryData] | None = places("resource", "entries")
