"""AlterClientQuotas (49): sets rates for users, client ids and addresses (KIP-546)."""

from ..cluster.call import Call
from ..controller.client_quotas import Alteration
from ..protocol.api_keys import ApiKey
from ..protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlteredEntry,
    EntityData,
    EntryData,
)
from .registry import handles


@handles(ApiKey.ALTER_CLIENT_QUOTAS)
def alter_client_quotas(call: Call, request: AlterClientQuotasRequest) -> AlterClientQuotasResponse:
    """Every entity succeeds or fails by itself, with all its values."""
    outcomes = call.cluster.controller.alter_client_quotas(
        map(_alteration, request.entries), validate_only=request.validate_only
    )
    entries = []
    for entity, error in outcomes.items():
        named = [EntityData(kind, name) for kind, name in entity]
        entries.append(
            EntryData(entity=named) if error is None else EntryData(error.code, error.message, named)
        )
    return AlterClientQuotasResponse(entries=entries)


def _alteration(entry: AlteredEntry) -> Alteration:
    entity = {each.entity_type: each.entity_name for each in entry.entity}
    return Alteration(entity, [(op.key, None if op.remove else op.value) for op in entry.ops])
