"""AlterClientQuotas (49): sets rates for users, client ids and addresses (KIP-546)."""

from ..cluster.call import Call
from ..controller.client_quotas import Alteration, Outcomes
from ..outcome import Steps
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlteredEntry,
    EntryData,
)
from ..protocol.messages.of_administrators import QuotaEntity
from .registry import handles


@handles(
    ApiKey.ALTER_CLIENT_QUOTAS,
    changes=True,
    source="ControllerApis.handleAlterClientQuotas, ClientQuotaControlManager.alterClientQuotas",
    resource="INVALID_REQUEST, CLUSTER_AUTHORIZATION_FAILED",
)
def alter_client_quotas(call: Call, request: AlterClientQuotasRequest) -> Steps:
    """Every entity succeeds or fails by itself, with all its values."""
    outcomes: Outcomes = {}
    for portion in portions(request.entries):
        call.cluster.controller.alter_client_quotas(
            map(_alteration, portion), outcomes, validate_only=request.validate_only
        )
        yield
    answer = AlterClientQuotasResponse()
    for told in portions(outcomes.items()):
        for entity, error in told:
            named = [QuotaEntity(kind, name) for kind, name in entity]
            answer.entries.append(
                EntryData(entity=named) if error is None else EntryData(error.code, error.message, named)
            )
        yield
    return answer


def _alteration(entry: AlteredEntry) -> Alteration:
    entity = {each.entity_type: each.entity_name for each in entry.entity}
    return Alteration(entity, [(op.key, None if op.remove else op.value) for op in entry.ops])
