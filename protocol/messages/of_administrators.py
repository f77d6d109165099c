"""What messages of administrators have in common."""

from dataclasses import dataclass

from .common import Throttled
from .places import places


@dataclass(slots=True)
class Failure:
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class NamedResource:
    resource_type: int = 0
    resource_name: str = ""


@dataclass(slots=True)
class ConfigResourceFailure(Failure):
    resource_type: int = 0
    resource_name: str = ""


@dataclass(slots=True)
class ConfigResourceFailures(Throttled):
    responses: list[ConfigResourceFailure] = places("resource", "resources")


@dataclass(slots=True)
class Config:
    name: str = ""
    value: str | None = None


@dataclass(slots=True)
class AclFilter:
    """Resource types, operations and permissions are numbers, as in `AclBinding`."""

    resource_type_filter: int = 0
    resource_name_filter: str | None = None
    pattern_type_filter: int = 3  # v1+
    principal_filter: str | None = None
    host_filter: str | None = None
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class QuotaEntity:
    entity_type: str = ""
    entity_name: str | None = None
    """None for the default of that type."""


@dataclass(slots=True)
class Principal:
    principal_type: str = ""
    principal_name: str = ""


@dataclass(slots=True)
class TokenExpiry:
    """The time is -1 if there is no token."""

    error_code: int = 0
    expiry_timestamp_ms: int = -1
    throttle_time_ms: int = 0
