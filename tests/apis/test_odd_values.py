"""Whatever a client sends as the value of a configuration is answered, by Java's rules."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.configs import java
from mockbroker.configs.altering import Operation
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from mockbroker.protocol.messages.of_administrators import Config

from ..driving.cluster import a_cluster, ask

CLUSTERS = {release: a_cluster(release, brokers=1) for release in ("0.11", "2.8", "4.4")}
NEWEST = CLUSTERS["4.4"]
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
REFUSALS = {0, ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST}

digits = st.text("0123456789+-.eExXpPdDfL_ \u0669\u00a0\x00", max_size=30)
long_numbers = st.sampled_from(["1" * 5000, "-" + "9" * 5000, "0" * 5000 + "1", "0." + "1" * 5000])
long_ones = st.builds(lambda text, times: text * times, digits, st.sampled_from([100, 5000]))
values = st.one_of(
    st.text(),
    digits,
    long_ones,
    long_numbers,
    st.floats().map(repr),
    st.floats().map(float.hex),
    st.integers().map(str),
)


@given(st.sampled_from(list(NEWEST.configs.topic_keys)), values, st.sampled_from(list(CLUSTERS)))
def test_a_topic_is_created_or_refused(name: str, value: str, release: str) -> None:
    topic = CreatableTopic("t", 1, 1, [], [Config(name, value)])
    answer = ask(CLUSTERS[release], CreateTopicsRequest([topic], validate_only=True), version=2)
    assert answer.topics[0].error_code in REFUSALS


@given(
    st.sampled_from([TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP]),
    st.data(),
    values,
    st.sampled_from(Operation),
)
def test_a_configuration_is_altered_or_refused(
    kind: int, data: st.DataObject, value: str, operation: Operation
) -> None:
    configs = NEWEST.configs
    names = {
        TOPIC: [*configs.topic_keys],
        BROKER: [name for name, key in configs.broker_keys.items() if key.dynamic],
        LOGGER: ["root"],
        CLIENT_METRICS: ["interval.ms", "match", "metrics"],
        GROUP: ["consumer.session.timeout.ms", "share.auto.offset.reset"],
    }
    change = AlterableConfig(data.draw(st.sampled_from(names[kind])), operation, value)
    resource = AlterConfigsResource(kind, "1" if kind in (BROKER, LOGGER) else "t", [change])
    answer = ask(NEWEST, IncrementalAlterConfigsRequest([resource], validate_only=True))
    assert answer.responses[0].error_code in REFUSALS | {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


@given(st.sampled_from([BROKER, LOGGER]), values)
def test_whatever_is_named_as_a_broker_is_refused(kind: int, name: str) -> None:
    answer = ask(NEWEST, DescribeConfigsRequest([DescribeConfigsResource(kind, f"x{name}")]))
    assert answer.results[0].error_code == ErrorCode.INVALID_REQUEST
    change = AlterConfigsResource(kind, f"{name}9", [AlterableConfig("root", 0, "INFO")])
    answer = ask(NEWEST, IncrementalAlterConfigsRequest([change], validate_only=True))
    assert answer.responses[0].error_code == ErrorCode.INVALID_REQUEST


@given(st.floats(allow_nan=False))
def test_a_number_that_is_shown_is_the_number_that_was_set(number: float) -> None:
    assert java.double(java.double_text(number)) == number


def test_the_ends_of_what_a_double_holds_are_shown() -> None:
    assert java.double_text(5e-324) == "5.0E-324"
    assert java.double_text(-sys.float_info.max) == "-1.7976931348623157E308"
    assert java.double_text(-math.inf) == "-Infinity"


@given(st.integers(-(2**65), 2**65), st.integers(0, 5000))
def test_zeros_in_front_change_no_number(number: int, zeros: int) -> None:
    text = ("-" if number < 0 else "") + "0" * zeros + str(abs(number))
    assert java.integer(text, 64) == (number if -(2**63) <= number < 2**63 else None)


@pytest.mark.parametrize("configured", [None, "3000", "0", " +5 "])
@pytest.mark.parametrize("release", list(CLUSTERS))
def test_the_delay_of_the_first_rebalance_is_described_as_it_is(release: str, configured: str | None) -> None:
    name = "group.initial.rebalance.delay.ms"
    cluster = a_cluster(release, brokers=1)
    if configured is not None:
        cluster = a_cluster(release, brokers=1, group_initial_rebalance_delay_ms=configured)
    resource = DescribeConfigsResource(BROKER, "1", [name])
    request = DescribeConfigsRequest([resource], include_synonyms=True)
    (found,) = ask(cluster, request, version=1).results[0].configs
    assert found.value == str(cluster.brokers[1].groups.settings.initial_rebalance_delay_ms)
    assert found.config_source == 4, "STATIC_BROKER_CONFIG"
    assert [each.source for each in found.synonyms] == [4, 5]
