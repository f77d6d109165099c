"""Whether client quotas may be set, and the records that set them (`ClientQuotaControlManager.java`)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ..configs import java
from ..java_hash import in_hash_order
from ..metadata.image import MetadataImage
from ..metadata.records import ClientQuotaRecord, Entity
from ..policies import Policies
from ..policies.configuration.quota_values import quota_values
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"

_LONG: Final = ("LONG", float(1 << 63))
_DOUBLE: Final = ("DOUBLE", math.inf)
_INT: Final = ("INT", float((1 << 31) - 1))
_OF_CLIENTS: Final = {
    PRODUCER_BYTE_RATE: _LONG,
    CONSUMER_BYTE_RATE: _LONG,
    "request_percentage": _DOUBLE,
    "controller_mutation_rate": _DOUBLE,
}
_OF_ADDRESSES: Final = {"connection_creation_rate": _INT}
_ALMOST_WHOLE: Final = 1e-6


class Alteration(NamedTuple):
    """What to set for an entity, in the order of the request; None removes a value."""

    entity: Mapping[str, str | None]
    values: Sequence[tuple[str, float | None]]


Outcomes = dict[Entity, ApiError | None]
"""By entity; None if all is well."""


def altered(
    image: MetadataImage, policies: Policies, alterations: Iterable[Alteration], outcomes: Outcomes
) -> list[ClientQuotaRecord]:
    """The records to write; adds to the outcomes of the request. An error of one entity does not concern
    others."""
    records: list[ClientQuotaRecord] = []
    for each in alterations:
        entity = tuple(sorted(each.entity.items()))
        try:
            if entity in outcomes or len(dict(each.values)) < len(each.values):
                shown = ", ".join(f"{kind}={_shown(name)}" for kind, name in _in_hash_order(each.entity))
                message = f"Ignoring duplicate entity ClientQuotaEntity(entries={{{shown}}})"
                raise ApiError(ErrorCode.INVALID_REQUEST, message)
            records += _records(entity, dict(each.values), image, policies)
        except ApiError as error:
            outcomes[entity] = error.with_traceback(None)  # What it was raised from keeps the whole request.
        else:
            outcomes[entity] = None
    return records


def _records(
    entity: Entity, values: Mapping[str, float | None], image: MetadataImage, policies: Policies
) -> list[ClientQuotaRecord]:
    known = _keys(entity)
    present = image.client_quotas.get(entity, {})
    for key in in_hash_order(values, len(values)):
        if (value := values[key]) is not None:
            _check(known, key, value, policies)
    return [
        ClientQuotaRecord(entity, key, value) for key, value in values.items() if present.get(key) != value
    ]


def _keys(entity: Entity) -> Mapping[str, tuple[str, float]]:
    """What can be set for an entity: the type of its values, and the largest. ApiError."""
    if not entity:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Invalid empty client quota entity")
    for kind, name in _in_hash_order(dict(entity)):
        if kind not in (USER, CLIENT_ID, IP):
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Empty {kind} not supported")
    types = dict(entity)
    if IP not in types:
        return _OF_CLIENTS
    if len(types) > 1:
        message = "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    address = types[IP]
    if address is not None and not _is_address(address):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{address} is not a valid IP or resolvable host.")
    return _OF_ADDRESSES


def _is_address(text: str) -> bool:
    """Real brokers also look up names."""
    # It takes 3 ms to import, which few clusters need.
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        return text == "localhost"
    return True


def _check(known: Mapping[str, tuple[str, float]], key: str, value: float, policies: Policies) -> None:
    """ApiError INVALID_REQUEST."""
    if key not in known:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {key}")
    if policies[quota_values] == "finite" and not math.isfinite(value):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Quota {key} must be a finite number")
    if value <= 0:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Quota {key} must be greater than 0")
    kind, most = known[key]
    if value > most:
        article = "an" if kind == "INT" else "a"
        message = f"Proposed value for {key} is too large for {article} {kind}."
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    if kind != "DOUBLE" and math.isfinite(value) and value % 1.0 > _ALMOST_WHOLE:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{key} cannot be a fractional value.")


def _in_hash_order(entity: Mapping[str, str | None]) -> list[tuple[str, str | None]]:
    return [(kind, entity[kind]) for kind in java.in_hash_order(list(entity))]


def _shown(name: str | None) -> str:
    return "null" if name is None else name
