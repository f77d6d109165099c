"""DescribeClientQuotas (48): which rates are set for whom (KIP-546)."""

from collections.abc import Sequence
from typing import Final

from ..cluster.call import Call
from ..controller.client_quotas import CLIENT_ID, IP, USER
from ..metadata.records import Entity
from ..outcome import Steps
from ..portions import portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntryData,
    ValueData,
)
from ..protocol.messages.of_administrators import QuotaEntity
from .registry import handles

_EXACT: Final = 0
_DEFAULT: Final = 1
_SPECIFIED: Final = 2
_TYPES: Final = {
    _EXACT: "MATCH_TYPE_EXACT",
    _DEFAULT: "MATCH_TYPE_DEFAULT",
    _SPECIFIED: "MATCH_TYPE_SPECIFIED",
}


@handles(
    ApiKey.DESCRIBE_CLIENT_QUOTAS,
    changes=False,
    source="KafkaApis.handleDescribeClientQuotasRequest, ClientQuotasImage.describe",
    top="INVALID_REQUEST, UNSUPPORTED_VERSION, CLUSTER_AUTHORIZATION_FAILED",
)
def describe_client_quotas(call: Call, request: DescribeClientQuotasRequest) -> Steps:
    """The entities that match all components (`ClientQuotasImage.describe`)."""
    try:
        _check(request.components)
    except ApiError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    entries: list[EntryData] = []
    for portion in portions(list(call.broker.image.client_quotas.items())):
        entries += [
            EntryData(
                [QuotaEntity(kind, name) for kind, name in entity],
                [ValueData(key, value) for key, value in values.items()],
            )
            for entity, values in portion
            if _matches(entity, request)
        ]
        yield
    return DescribeClientQuotasResponse(entries=entries)


def _matches(entity: Entity, request: DescribeClientQuotasRequest) -> bool:
    names = dict(entity)
    if request.strict and len(names) != len(request.components):
        return False
    return all(
        each.entity_type in names and (each.match_type == _SPECIFIED or names[each.entity_type] == each.match)
        for each in request.components
    )


def _check(components: Sequence[ComponentData]) -> None:
    """ApiError, in Kafka's order of checks."""
    types: set[str] = set()
    for each in components:
        if not each.entity_type:
            raise _invalid("Invalid empty entity type.")
        if each.entity_type in types:
            raise _invalid(f"Entity type {each.entity_type} cannot appear more than once in the filter.")
        if each.entity_type not in (IP, USER, CLIENT_ID):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {each.entity_type}")
        if each.match_type not in _TYPES:
            raise _invalid(f"Unknown match type {each.match_type}")
        name = _TYPES[each.match_type]
        if each.match_type == _EXACT and each.match is None:
            raise _invalid(f"Request specified {name}, but set match string to null.")
        if each.match_type != _EXACT and each.match is not None:
            raise _invalid(f"Request specified {name}, but also specified a match string.")
        types.add(each.entity_type)
    if IP in types and len(types) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used with "
            "user or clientId filter component."
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
