"""AlterClientQuotas: api key 49, v0 and v1 (KIP-546)."""

from dataclasses import dataclass, field

from .common import Throttled
from .of_administrators import Failure, QuotaEntity
from .places import places


@dataclass(slots=True)
class OpData:
    key: str = ""
    value: float = 0.0
    remove: bool = False


@dataclass(slots=True)
class AlteredEntry:
    entity: list[QuotaEntity] = field(default_factory=list)
    ops: list[OpData] = field(default_factory=list)


@dataclass(slots=True)
class AlterClientQuotasRequest:
    entries: list[AlteredEntry] = field(default_factory=list)
    validate_only: bool = False


@dataclass(slots=True)
class EntryData(Failure):
    entity: list[QuotaEntity] = field(default_factory=list)


@dataclass(slots=True)
class AlterClientQuotasResponse(Throttled):
    entries: list[EntryData] = places("resource", "entries")
