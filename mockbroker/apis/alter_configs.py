"""AlterConfigs (33): replaces all configurations of a resource (KIP-133)."""

from ..cluster.call import Call
from ..cluster.resources import known_type
from ..configs import altering
from ..outcome import NEVER, Steps
from ..policies.configuration.repeated_configs import repeated_configs
from ..protocol.api_keys import ApiKey
from ..protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse
from .altered_resources import alter_resource, altered, times_named
from .registry import handles


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
    """Configurations that a request leaves out are reset."""
    times = yield from times_named(request.resources)
    if len(times) != len(request.resources):
        # A real broker fails if a resource is named twice, and never answers.
        return NEVER

    def alter(asked: AlterConfigsResource) -> Steps:
        changes = [altering.Change(each.name, altering.Operation.SET, each.value) for each in asked.configs]
        altering.check_form(changes, may_repeat=call.policies[repeated_configs] == "last")
        values = {change.name: change.value or "" for change in changes}
        kind = known_type(call.cluster, asked.resource_type)
        yield from alter_resource(call, kind, asked, lambda _: lambda _: values, request.validate_only)

    return (
        yield from altered(request.resources, AlterConfigsResponse(), lambda each: len(each.configs), alter)
    )
