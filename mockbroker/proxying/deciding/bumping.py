"""`epoch-bump`, decided on what transactional producers are told that they can do, and what they ask for."""

from dataclasses import replace
from typing import Any, Final

from ...policies.transactions.epoch_bump import epoch_bump
from ...protocol.api_keys import ApiKey
from ...protocol.messages.api_versions import FinalizedFeatureKey
from .steps import Asked, Inner, Steps

_FEATURE: Final = "transaction.version"
_PER_REQUEST: Final = 1
"""The last level of this feature at which EndTxn does not bump (KIP-890)."""
_NONE: Final = -1


def decide_epoch_bump(asked: Asked, inner: Inner) -> Steps:
    """Hides from clients that EndTxn may bump, so that they do not let it; and what a client knows of its
    epoch, so that the cluster takes it for a new instance."""
    if not asked.decides(epoch_bump):
        return (yield from inner(asked.request))
    if asked.api is ApiKey.INIT_PRODUCER_ID:
        return (yield from inner(_initialized(asked)))
    answer = yield from inner(asked.request)
    return _hidden(asked, answer)


def _initialized(asked: Asked) -> Any:
    request = asked.request
    if request.transactional_id is None or request.producer_id == _NONE:
        return request
    if asked.answer(epoch_bump).on_request:
        return request
    return replace(request, producer_id=_NONE, producer_epoch=_NONE)


def _hidden(asked: Asked, answer: Any) -> Any:
    limited = [_limited(each) for each in answer.finalized_features]
    if limited == list(answer.finalized_features) or asked.answer(epoch_bump).per_transaction:
        return answer
    return replace(answer, finalized_features=limited)


def _limited(feature: FinalizedFeatureKey) -> FinalizedFeatureKey:
    if feature.name != _FEATURE:
        return feature
    levels = (feature.max_version_level, feature.min_version_level)
    return FinalizedFeatureKey(feature.name, *(min(each, _PER_REQUEST) for each in levels))
