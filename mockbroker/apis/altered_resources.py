"""What AlterConfigs and IncrementalAlterConfigs have in common."""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import Final, TypeVar

from ..cluster import resources
from ..cluster.call import Call
from ..cluster.resources import Edit, ResourceType
from ..outcome import Steps
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import ConfigResourceFailure, ConfigResourceFailures, NamedResource

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
    match kind:
        case ResourceType.TOPIC:
            resources.alter_topic(cluster, name, edit("topic"), validate)
        case ResourceType.BROKER:
            yield from resources.alter_broker(cluster, call.broker, name, edit("broker"), validate)
        case ResourceType.CLIENT_METRICS:
            resources.alter_client_metrics(cluster, name, edit("client_metrics"), validate)
        case ResourceType.GROUP:
            resources.alter_group(cluster, name, edit("group"), validate)
        case _:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {asked.resource_type}")
