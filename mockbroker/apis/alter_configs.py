"""AlterConfigs (33): replaces all configurations of a resource (KIP-133)."""

from collections.abc import Generator

from ..cluster.call import Call
from ..cluster.resources import known_type
from ..configs import altering
from ..outcome import CLOSE, NEVER, Steps
from ..policies.configuration.null_configs import null_configs
from ..policies.configuration.repeated_configs import repeated_configs
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse
from ..protocol.messages.of_administrators import ConfigResourceFailure
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
    nulls = call.policies[null_configs]
    if nulls in ("closes", "fails") and (yield from _has_nulls(request)):
        if nulls == "closes":
            return CLOSE
        return AlterConfigsResponse(responses=(yield from _all_failed(request)))

    def alter(asked: AlterConfigsResource) -> Steps:
        changes = _changes(asked)
        if call.policies[repeated_configs] != "last":
            altering.check_repeats(changes)
        if nulls == "refused":
            altering.check_nulls(changes)
        values = altering.applied({}, changes, {})
        kind = known_type(call.cluster, asked.resource_type)
        yield from alter_resource(call, kind, asked, lambda _: lambda _: values, request.validate_only)

    return (
        yield from altered(request.resources, AlterConfigsResponse(), lambda each: len(each.configs), alter)
    )


def _changes(asked: AlterConfigsResource) -> list[altering.Change]:
    return [altering.Change(each.name, altering.Operation.SET, each.value) for each in asked.configs]


def _has_nulls(request: AlterConfigsRequest) -> Generator[None, None, bool]:
    for each in request.resources:
        if altering.nulls(_changes(each)):
            return True
        yield
    return False


def _all_failed(request: AlterConfigsRequest) -> Generator[None, None, list[ConfigResourceFailure]]:
    found: list[ConfigResourceFailure] = []
    for some in portions(request.resources):
        found += [
            ConfigResourceFailure(
                ErrorCode.UNKNOWN_SERVER_ERROR, None, each.resource_type, each.resource_name
            )
            for each in some
        ]
        yield
    return found
