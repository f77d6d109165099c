"""Operations that show the configuration of a topic or a group, and where each value comes from."""

from typing import Final, TypedDict

from ..cluster.resources import ResourceType
from ..configs.definitions import keys
from ..configs.store import Source
from ..errors import ConflictError
from ..protocol.api_keys import ApiKey
from ..protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from ..verbs.parameters import TopicName
from .asking import any_broker, ask, check
from .groups import GroupId
from .records import done
from .registry import operation
from .target import Target

_SOURCES: Final = {
    Source.UNKNOWN: "UNKNOWN",
    Source.TOPIC: "DYNAMIC_TOPIC_CONFIG",
    Source.DYNAMIC_BROKER: "DYNAMIC_BROKER_CONFIG",
    Source.DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    Source.STATIC_BROKER: "STATIC_BROKER_CONFIG",
    Source.DEFAULT: "DEFAULT_CONFIG",
    Source.GROUP: "DYNAMIC_GROUP_CONFIG",
}
"""As Kafka's tools print them (`ConfigEntry.ConfigSource`)."""


class ConfigEntry(TypedDict):
    """A value in force. `source` is as kafka-configs.sh prints it; `value` is null if there is none."""

    name: str
    value: str | None
    source: str


@operation("topics config", "GET", "/topics/{topic}/config")
async def topic_config(target: Target, topic: TopicName) -> list[ConfigEntry]:
    """Shows the configuration of a topic, and where each value comes from."""
    target.topic(topic)
    return await _entries(target, ResourceType.TOPIC, topic, f"the topic {topic!r} can't be described")


@operation("groups config", "GET", "/groups/{group}/config")
async def group_config(target: Target, group: GroupId) -> list[ConfigEntry]:
    """Shows the configuration of a group, which need not be there yet, and where each value comes from."""
    if not keys("group", target.cluster.release):
        raise ConflictError(f"groups have no configuration with Kafka {target.cluster.release}")
    return await _entries(target, ResourceType.GROUP, group, f"the group {group!r} can't be described")


async def _entries(target: Target, kind: ResourceType, name: str, refused: str) -> list[ConfigEntry]:
    def read(answer: DescribeConfigsResponse) -> list[ConfigEntry]:
        [result] = answer.results
        check(result.error_code, result.error_message, refused)
        return [
            {"name": each.name, "value": each.value, "source": _SOURCES[Source(each.config_source)]}
            for each in sorted(result.configs, key=lambda each: each.name)
        ]

    resource = DescribeConfigsResource(kind, name, None)
    request, broker = DescribeConfigsRequest([resource]), any_broker(target.cluster)
    return await done(ask(target.cluster, broker, ApiKey.DESCRIBE_CONFIGS, request, read))
