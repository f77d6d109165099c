"""IncrementalAlterConfigs (44): changes single configurations of a resource (KIP-339)."""

from ..cluster.call import Call
from ..cluster.resources import Edit, ResourceType, alter_loggers, known_type
from ..configs import altering, definitions
from ..outcome import Steps
from ..policies.configuration.null_configs import null_configs
from ..policies.configuration.repeated_changes import repeated_changes
from ..policies.configuration.wrong_topic_configs import wrong_topic_configs
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from .altered_resources import alter_resource, altered, ask, times_named
from .registry import handles


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
    """All changes of a resource are made, or none."""
    times = yield from times_named(request.resources)

    def alter(asked: AlterConfigsResource) -> Steps:
        if times[asked.resource_type, asked.resource_name] > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        return _alter(call, asked, request.validate_only)

    answer = IncrementalAlterConfigsResponse()
    return (yield from altered(request.resources, answer, lambda each: len(each.configs), alter))


def _alter(call: Call, asked: AlterConfigsResource, validate_only: bool) -> Steps:
    changes = [altering.Change(each.name, each.config_operation, each.value) for each in asked.configs]
    repeated, nulls = call.policies[repeated_changes], call.policies[null_configs]
    if repeated != "last":
        altering.check_repeats(changes, told=repeated == "named")
    if nulls in ("fails", "refused"):
        altering.check_nulls(changes, told=nulls == "fails")

    def edit(name: str) -> Edit:
        keys = definitions.keys(name, call.environment.release)
        as_request = name == "topic" and call.policies[wrong_topic_configs] == "invalid-request"
        return lambda current: altering.applied(
            current,
            changes,
            keys,
            broker=as_request or name == "broker",
            no_list=ErrorCode.INVALID_REQUEST if as_request else ErrorCode.INVALID_CONFIG,
            nulls_fail=nulls == "closes",
        )

    kind = known_type(call.cluster, asked.resource_type)
    if kind is ResourceType.BROKER_LOGGER:
        ask(call, kind, asked.resource_name)
        return alter_loggers(call.broker, asked.resource_name, changes, validate_only)
    if kind is ResourceType.CLIENT_METRICS and any(
        change.operation > altering.Operation.DELETE for change in changes
    ):
        # The controller does not know the types of these.
        altering.applied({}, changes, {})
    yield from alter_resource(call, kind, asked, edit, validate_only)
