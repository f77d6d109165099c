"""DeleteGroups (42): deletes groups without members, with their offsets (KIP-229)."""

from collections.abc import Callable, Generator
from functools import partial

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.share.group import ShareGroup
from ..environment import Nobody
from ..outcome import PARKED, Steps
from ..portions import MANY, Pace, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from .registry import handles


@handles(
    ApiKey.DELETE_GROUPS,
    changes=True,
    source="""KafkaApis.handleDeleteGroupsRequest, GroupCoordinatorService.deleteGroups,
        ClassicGroup.validateDeleteGroup""",
    group_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    group="NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED",
)
def delete_groups(call: Call, request: DeleteGroupsRequest) -> Steps:
    """A group that is named twice is answered once; the answer comes when all are deleted."""
    results: dict[str, DeletableGroupResult] = {}
    for some in portions(request.groups_names, MANY):
        results.update((name, DeletableGroupResult(name)) for name in some)
        yield
    reply: Reply[DeleteGroupsResponse] = Reply(call)
    missing = set(results)

    def done(name: str, error: ErrorCode) -> None:
        results[name].error_code = error
        missing.discard(name)
        if not missing:
            reply.complete(DeleteGroupsResponse(results=list(results.values())))

    groups, pace, left = call.broker.groups, Pace(), iter(results)
    name = next(left, None)
    while name is not None:
        with groups.burials.together():
            while name is not None:
                size = _delete(call, name, partial(done, name))
                name = next(left, None)
                if pace.enough(size):
                    break
        yield
    if not results:
        reply.complete(DeleteGroupsResponse())
    return reply.outcome()


def _delete(call: Call, group_id: str, done: Callable[[ErrorCode], None]) -> int:
    """Returns how many records that takes."""
    groups = call.broker.groups
    error = groups.refuses(group_id, may_be_empty=True)
    group = groups.groups.get(group_id)
    if error:
        done(error)
    elif group is None:
        done(ErrorCode.GROUP_ID_NOT_FOUND)
    elif not group.is_empty:
        done(ErrorCode.NON_EMPTY_GROUP)
    elif group.type == "share":
        _delete_share(call, group, done)
    else:
        size = 1 + len(group.offsets.committed)
        groups.delete(group, done)
        return size
    return 1


def _delete_share(call: Call, group: ShareGroup, done: Callable[[ErrorCode], None]) -> None:
    """The states of its share partitions go first."""
    groups = call.broker.groups

    def deleted(error: ErrorCode) -> None:
        if error or groups.groups.get(group.id) is not group:
            done(error)
        else:
            groups.delete(group, done)

    steps = groups.share_offsets.delete_all(group, deleted)
    call.cluster.work.begin(Nobody(call.environment), _parked(steps))


def _parked(steps: Generator[None, None, None]) -> Steps:
    yield from steps
    return PARKED
