"""IncrementalAlterConfigs (44): changes single configurations of a resource (KIP-339)."""

from collections import Counter
from typing import Final

from ..cluster import resources
from ..cluster.call import Call
from ..cluster.resources import ResourceType
from ..configs import altering, definitions
from ..outcome import Steps
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import ConfigResourceFailure
from ..protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from .registry import handles

_A_RESOURCE: Final = 3
"""To alter one takes as long as so many configurations."""


@handles(
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
    changes=True,
    source="""ConfigAdminManager, ControllerApis.handleIncrementalAlterConfigs, ConfigurationControlManager,
        ForwardingManager; ZkAdminManager before 4.0""",
    resource_retry="UNKNOWN_TOPIC_OR_PARTITION, NOT_CONTROLLER, REQUEST_TIMED_OUT",
    resource="""INVALID_CONFIG, INVALID_REQUEST, INVALID_TOPIC_EXCEPTION, POLICY_VIOLATION,
        BROKER_ID_NOT_REGISTERED, UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED,
        CLUSTER_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED""",
)
def incremental_alter_configs(call: Call, request: IncrementalAlterConfigsRequest) -> Steps:
    """Every resource succeeds or fails by itself, with all its changes."""
    times: Counter[tuple[int, str]] = Counter()
    for some in portions(request.resources, MANY):
        times.update((each.resource_type, each.resource_name) for each in some)
        yield
    answer, pace = IncrementalAlterConfigsResponse(), Pace()
    for each in request.resources:
        result = ConfigResourceFailure(resource_type=each.resource_type, resource_name=each.resource_name)
        try:
            if times[each.resource_type, each.resource_name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            yield from _alter(call, each, request.validate_only)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        answer.responses.append(result)
        if pace.enough(_A_RESOURCE + len(each.configs)):
            yield
    return answer


def _alter(call: Call, asked: AlterConfigsResource, validate_only: bool) -> Steps:
    cluster, name = call.cluster, asked.resource_name
    changes = [altering.Change(each.name, each.config_operation, each.value) for each in asked.configs]
    altering.check_form(changes)

    def edit(kind: str) -> resources.Edit:
        keys = definitions.keys(kind, cluster.environment.release)
        return lambda current: altering.applied(current, changes, keys, broker=kind == "broker")

    match resources.known_type(cluster, asked.resource_type):
        case ResourceType.TOPIC:
            resources.alter_topic(cluster, name, edit("topic"), validate_only)
        case ResourceType.BROKER:
            yield from resources.alter_broker(call.cluster, call.broker, name, edit("broker"), validate_only)
        case ResourceType.BROKER_LOGGER:
            resources.alter_loggers(call.broker, name, changes, validate_only)
        case ResourceType.CLIENT_METRICS:
            if any(change.operation > altering.Operation.DELETE for change in changes):
                # The controller does not know the types of these.
                altering.applied({}, changes, {})
            resources.alter_client_metrics(cluster, name, edit("client_metrics"), validate_only)
        case ResourceType.GROUP:
            resources.alter_group(cluster, name, edit("group"), validate_only)
        case None:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {asked.resource_type}")
