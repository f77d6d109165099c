"""What AlterConfigs and IncrementalAlterConfigs have in common."""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Final, TypeVar

from .. import acls
from ..acls import Operation
from ..acls.acl import CLUSTER_NAME
from ..cluster import resources
from ..cluster.call import Call
from ..cluster.resources import ACL_TYPES, Edit, ResourceType
from ..outcome import Steps
from ..policies.security.refused_configs import refused_configs
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.of_administrators import ConfigResourceFailure, ConfigResourceFailures, NamedResource

_A_RESOURCE: Final = 3
"""To alter one takes as long as so many configurations."""
A = TypeVar("A", bound=ConfigResourceFailures)
R = TypeVar("R", bound=NamedResource)


def times_named(asked: Sequence[NamedResource]) -> Generator[None, None, Counter[tuple[int, str]]]:
    """How often a request names each resource."""
    times: Counter[tuple[int, str]] = Counter()
    for some in portions(asked, MANY):
        times.update((each.resource_type, each.resource_name) for each in some)
        yield
    return times


def altered(
    asked: Sequence[R], answer: A, count: Callable[[R], int], alter: Callable[[R], Steps]
) -> Generator[None, None, A]:
    """The answer: every resource succeeds or fails (ApiError) by itself; `count` is of its configurations."""
    pace = Pace()
    for each in asked:
        result = ConfigResourceFailure(resource_type=each.resource_type, resource_name=each.resource_name)
        try:
            yield from alter(each)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        answer.responses.append(result)
        if pace.enough(_A_RESOURCE + count(each)):
            yield
    return answer


def alter_resource(
    call: Call, kind: ResourceType | None, asked: NamedResource, edit: Callable[[str], Edit], validate: bool
) -> Steps:
    """`edit` gives the change for a kind of configurations; with `validate` nothing is changed. ApiError."""
    cluster, name = call.cluster, asked.resource_name
    values_first = kind is ResourceType.BROKER and call.policies[refused_configs].broker_values_first
    if kind is not None and not values_first:
        ask(call, kind, name)
    match kind:
        case ResourceType.TOPIC:
            resources.alter_topic(cluster, name, edit("topic"), validate)
        case ResourceType.BROKER:
            may = partial(ask, call, kind, name)
            yield from resources.alter_broker(cluster, call.broker, name, edit("broker"), validate, may)
        case ResourceType.CLIENT_METRICS:
            resources.alter_client_metrics(cluster, name, edit("client_metrics"), validate)
        case ResourceType.GROUP:
            resources.alter_group(cluster, name, edit("group"), validate)
        case _:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {asked.resource_type}")


def ask(call: Call, kind: ResourceType, name: str) -> None:
    """ApiError if the client may not alter the resource, and if that is for the handler to find out."""
    order = call.policies[refused_configs]
    if call.asker is None or not order.mistakes_first:
        return
    needed = ACL_TYPES[kind]
    if call.asker.may(
        Operation.ALTER_CONFIGS, needed, CLUSTER_NAME if needed is acls.ResourceType.CLUSTER else name
    ):
        return
    code = ErrorCode[f"{needed.name}_AUTHORIZATION_FAILED"]
    of_broker = kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER)
    raise ApiError(code, default_message(code) if order.broker_values_first or not of_broker else None)
