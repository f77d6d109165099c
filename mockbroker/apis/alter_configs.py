"""AlterConfigs (33): replaces all configurations of a resource (KIP-133)."""

from typing import Final

from ..cluster import resources
from ..cluster.call import Call
from ..cluster.resources import ResourceType
from ..configs import altering
from ..outcome import NO_ANSWER, Steps
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse
from ..protocol.messages.common import ConfigResourceFailure
from .registry import handles

_A_RESOURCE: Final = 3
"""To alter one takes as long as so many configurations."""


@handles(
    ApiKey.ALTER_CONFIGS,
    changes=True,
    source="""ConfigAdminManager, ControllerApis.handleLegacyAlterConfigs, ConfigurationControlManager,
        ForwardingManager; ZkAdminManager before 4.0""",
    resource_retry="UNKNOWN_TOPIC_OR_PARTITION, NOT_CONTROLLER, REQUEST_TIMED_OUT",
    resource="""INVALID_CONFIG, INVALID_REQUEST, INVALID_TOPIC_EXCEPTION, POLICY_VIOLATION,
        BROKER_ID_NOT_REGISTERED, TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED""",
)
def alter_configs(call: Call, request: AlterConfigsRequest) -> Steps:
    """Every resource succeeds or fails by itself; configurations that a request leaves out are reset."""
    names: set[tuple[int, str]] = set()
    for some in portions(request.resources, MANY):
        names.update((each.resource_type, each.resource_name) for each in some)
        yield
    if len(names) != len(request.resources):
        # A real broker fails if a resource is named twice, and never answers.
        return NO_ANSWER
    answer, pace = AlterConfigsResponse(), Pace()
    for each in request.resources:
        result = ConfigResourceFailure(resource_type=each.resource_type, resource_name=each.resource_name)
        try:
            yield from _alter(call, each, request.validate_only)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        answer.responses.append(result)
        if pace.enough(_A_RESOURCE + len(each.configs)):
            yield
    return answer


def _alter(call: Call, asked: AlterConfigsResource, validate_only: bool) -> Steps:
    cluster, name = call.cluster, asked.resource_name
    changes = [altering.Change(each.name, altering.Operation.SET, each.value) for each in asked.configs]
    altering.check_form(changes)
    values = {change.name: change.value or "" for change in changes}

    match resources.known_type(cluster, asked.resource_type):
        case ResourceType.TOPIC:
            resources.alter_topic(cluster, name, lambda _: values, validate_only)
        case ResourceType.BROKER:
            yield from resources.alter_broker(
                call.cluster, call.broker, name, lambda _: values, validate_only
            )
        case ResourceType.CLIENT_METRICS:
            resources.alter_client_metrics(cluster, name, lambda _: values, validate_only)
        case ResourceType.GROUP:
            resources.alter_group(cluster, name, lambda _: values, validate_only)
        case _:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {asked.resource_type}")
