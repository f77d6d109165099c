"""DescribeConfigs of many resources: what they have in common is there once, and written once."""

import dataclasses
from typing import Any

import pytest

from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.codecs import codec
from mockbroker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from mockbroker.protocol.primitives import Shared

from ..driving.cluster import a_cluster, ask, create

LOW, HIGH = CODEC_VERSIONS[ApiKey.DESCRIBE_CONFIGS]
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


def described(count: int, keys: list[str] | None = None) -> DescribeConfigsResponse:
    """`count` resources of each kind, half of the topics with a configuration of their own."""
    cluster = a_cluster()
    for index in range(count):
        create(cluster, f"t{index}", retention_ms="7") if index % 2 else create(cluster, f"t{index}")
    names: list[tuple[int, str]] = []
    for index in range(count):
        names += [(TOPIC, f"t{index}"), (GROUP, f"g{index}"), (CLIENT_METRICS, f"m{index}")]
        names += [(BROKER, "1"), (BROKER, ""), (LOGGER, "1"), (TOPIC, "missing")]
    asked = [DescribeConfigsResource(kind, name, keys) for kind, name in names]
    answer = ask(
        cluster, DescribeConfigsRequest(asked, include_synonyms=True, include_documentation=True)
    ).response
    assert isinstance(answer, DescribeConfigsResponse)
    return answer


def written(answer: Any, version: int) -> bytes:
    frame = codec(ApiKey.DESCRIBE_CONFIGS, version).encode(1, answer)
    return b"".join(map(bytes, frame)) if isinstance(frame, list) else bytes(frame)


def test_many_resources_take_as_many_objects_as_a_few() -> None:
    few, many = (
        {id(each) for result in described(count).results for each in result.configs} for count in (2, 40)
    )
    assert len(many) == len(few)


@pytest.mark.parametrize("version", range(LOW, HIGH + 1))
def test_what_is_written_once_is_what_would_be_written_each_time(version: int) -> None:
    answer = described(3)
    assert any(type(result.configs) is Shared for result in answer.results)
    plain = dataclasses.replace(
        answer, results=[dataclasses.replace(each, configs=list(each.configs)) for each in answer.results]
    )
    assert written(answer, version) == written(plain, version)
    assert written(answer, LOW) == written(plain, LOW), "in another version afterwards"


def test_those_asked_for_by_name_are_shown_alone() -> None:
    answer = described(2, ["retention.ms", "log.retention.ms", "no.such.name"])
    shown = {(each.resource_type, config.name) for each in answer.results for config in each.configs}
    assert shown == {(TOPIC, "retention.ms"), (BROKER, "log.retention.ms")}
    values = {
        each.resource_name: each.configs[0].value
        for each in answer.results
        if each.resource_type == TOPIC and each.configs
    }
    assert values == {"t0": "604800000", "t1": "7"}
