"""Errors that a hunt answers in a broker's place, by API: brokers give them, and they say to try again."""

from collections.abc import Iterable
from typing import Any, Final

from mockbroker.faults.legal import is_legal, legal_codes, usual_level
from mockbroker.faults.match import api_name
from mockbroker.policies.groups.group_loading import group_loading
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.releases import parse

from .plan import Fields

_APIS: Final = (
    ApiKey.PRODUCE,
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.METADATA,
    ApiKey.FIND_COORDINATOR,
    ApiKey.JOIN_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.END_TXN,
)
_SHARING: Final = (ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE, ApiKey.SHARE_GROUP_HEARTBEAT)
_NOT_ALWAYS: Final = frozenset(
    {
        # Brokers before 2.6 gave it.
        ErrorCode.REPLICA_NOT_AVAILABLE,
        # It depends on what was asked: stable offsets, topics by id, or within a session.
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
        # A broker has room for thousands of sessions.
        ErrorCode.SHARE_SESSION_LIMIT_REACHED,
        # The partition would have no leader in the answer.
        ErrorCode.LISTENER_NOT_FOUND,
    }
)
"""Whether they are legal does not depend on the version alone."""
_IN_TRANSACTIONS: Final = (ApiKey.PRODUCE, ErrorCode.CONCURRENT_TRANSACTIONS)


def fields_of(api: ApiKey, code: ErrorCode) -> dict[str, Any]:
    """Of a fault that answers it in the versions in which brokers do."""
    oldest, newest = CODEC_VERSIONS[api]
    every = range(oldest, newest + 1)
    versions = [version for version in every if is_legal(api, version, usual_level(api, version), code)]
    if api in _SHARING and not versions:
        level = next(each.level for each in legal_codes(api) if each.code is code)
        return {"error": code.name, "level": level}
    return {"error": code.name} if len(versions) == len(every) else {"error": code.name, "version": versions}


def _faults(apis: Iterable[ApiKey]) -> dict[str, tuple[dict[str, Any], ...]]:
    return {
        api_name(api): tuple(
            {
                each.code: fields_of(api, each.code)
                for each in legal_codes(api)
                if each.retry and each.code not in _NOT_ALWAYS and (api, each.code) != _IN_TRANSACTIONS
            }.values()
        )
        for api in apis
    }


FAULTS: Final = _faults(_APIS)
"""The fields of the faults, each code once."""
SHARE_FAULTS: Final = _faults(_SHARING)
"""The same of what only members of share groups ask."""
WITHOUT_TRANSACTIONAL_ID: Final = ("COORDINATOR_LOAD_IN_PROGRESS", "REQUEST_TIMED_OUT")
"""What an InitProducerId without a transactional id may get: no coordinator is asked, only for a block of ids
(TransactionCoordinator.handleInitProducerId, ProducerIdManager)."""
ANSWERS: Final = {
    api: tuple(each["error"] for each in faults) for api, faults in (FAULTS | SHARE_FAULTS).items()
}
"""The names of the codes."""


def answered_by(kafka: str, fault: Fields) -> Fields:
    """The fields of a fault with the error that brokers of this release answer in place of a drawn one."""
    if (fault.get("api"), fault.get("error")) != ("SyncGroup", "COORDINATOR_LOAD_IN_PROGRESS"):
        return fault
    rest = {name: value for name, value in fault.items() if name != "version"}
    return {**rest, **fields_of(ApiKey.SYNC_GROUP, group_loading.choose(parse(kafka), {}).sync)}


def faults_of(api: str, transactional: bool) -> tuple[dict[str, Any], ...]:
    """Those that this API may get from producers that are all transactional, or of which none is."""
    if api in SHARE_FAULTS:
        return SHARE_FAULTS[api]
    if api != api_name(ApiKey.INIT_PRODUCER_ID) or transactional:
        return FAULTS[api]
    return tuple(each for each in FAULTS[api] if each["error"] in WITHOUT_TRANSACTIONAL_ID)
