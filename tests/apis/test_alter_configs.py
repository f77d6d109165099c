"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs, as far as recorded answers don't say."""

from typing import Any

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages import incremental_alter_configs
from mockbroker.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.protocol.messages.of_administrators import Config

from ..driving.cluster import a_cluster, ask, create

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE = range(2)


def alter(
    cluster: Cluster,
    kind: int,
    resource: str,
    *changes: tuple[str, int, str | None],
    validate_only: bool = False,
    broker: int = 1,
) -> Any:
    configs = [incremental_alter_configs.AlterableConfig(*each) for each in changes]
    asked = incremental_alter_configs.AlterConfigsResource(kind, resource, configs)
    request = incremental_alter_configs.IncrementalAlterConfigsRequest([asked], validate_only)
    return ask(cluster, request, broker=broker).responses[0]


def describe(cluster: Cluster, kind: int, resource: str, *names: str, broker: int = 1) -> Any:
    asked = DescribeConfigsResource(kind, resource, list(names) or None)
    return ask(cluster, DescribeConfigsRequest([asked], include_synonyms=True), broker=broker).results[0]


def shown(cluster: Cluster, kind: int, resource: str, name: str) -> tuple[str | None, int]:
    """(value, source) of one configuration."""
    (found,) = describe(cluster, kind, resource, name).configs
    return found.value, found.config_source


def test_a_topic_configuration_is_set_and_reset(cluster: Cluster) -> None:
    create(cluster, "t")
    assert alter(cluster, TOPIC, "t", ("retention.ms", SET, "5")).error_code == ErrorCode.NONE
    assert cluster.topics["t"].settings.retention_ms == 5
    assert shown(cluster, TOPIC, "t", "retention.ms") == ("5", 1)
    alter(cluster, TOPIC, "t", ("retention.ms", DELETE, None))
    assert shown(cluster, TOPIC, "t", "retention.ms") == ("604800000", 5)


@pytest.mark.parametrize(
    ("resource", "changes", "code"),
    [
        ("t", [("retention.ms", SET, None)], ErrorCode.INVALID_REQUEST),
        ("t", [("retention.ms", SET, "1"), ("retention.ms", DELETE, None)], ErrorCode.INVALID_REQUEST),
        ("t", [("retention.ms", 9, "1")], ErrorCode.UNKNOWN_SERVER_ERROR),
        ("t", [("no.such", SET, "1")], ErrorCode.INVALID_CONFIG),
        ("t", [("retention.ms", SET, "x")], ErrorCode.INVALID_CONFIG),
        ("zz", [("retention.ms", SET, "x")], ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_change_that_is_refused_changes_nothing(
    cluster: Cluster, resource: str, changes: list[tuple[str, int, str | None]], code: ErrorCode
) -> None:
    create(cluster, "t")
    assert alter(cluster, TOPIC, resource, ("segment.ms", SET, "7"), *changes).error_code == code
    assert cluster.topics["t"].overrides == {}


@pytest.mark.parametrize(("kafka", "counts"), [("2.8", "3000"), ("3.1", "3000"), ("3.2", None)])
def test_alter_configs_of_old_releases_takes_the_last_of_repeated_values(
    kafka: str, counts: str | None
) -> None:
    """As real brokers of 2.8.2, 3.1.2 and 3.2.3 answered."""
    cluster = a_cluster(kafka)
    create(cluster, "t")
    values = [Config("retention.ms", "soon"), Config("retention.ms", "3000")]
    asked = AlterConfigsResource(TOPIC, "t", values)
    code = ask(cluster, AlterConfigsRequest([asked])).responses[0].error_code
    assert code == (ErrorCode.INVALID_REQUEST if counts is None else ErrorCode.NONE)
    assert cluster.topics["t"].overrides == ({} if counts is None else {"retention.ms": counts})
    asked.configs.reverse()
    assert ask(cluster, AlterConfigsRequest([asked])).responses[0].error_code != ErrorCode.NONE
    assert cluster.topics["t"].overrides == ({} if counts is None else {"retention.ms": counts})


def test_validate_only_sets_nothing(cluster: Cluster) -> None:
    create(cluster, "t")
    alter(cluster, TOPIC, "t", ("retention.ms", SET, "5"), validate_only=True)
    alter(cluster, BROKER, "", ("log.retention.ms", SET, "5"), validate_only=True)
    assert cluster.topics["t"].settings.retention_ms == 604800000


def test_topics_follow_what_brokers_are_told() -> None:
    cluster = a_cluster(log_retention_ms="1")
    create(cluster, "t")
    alter(cluster, BROKER, "", ("log.retention.ms", SET, "2"))
    assert cluster.topics["t"].settings.retention_ms == 2
    alter(cluster, BROKER, "1", ("log.retention.ms", SET, "3"))
    (found,) = describe(cluster, BROKER, "1", "log.retention.ms").configs
    assert [(each.name, each.value, each.source) for each in found.synonyms] == [
        ("log.retention.ms", "3", 2),
        ("log.retention.ms", "2", 3),
        ("log.retention.ms", "1", 4),
        ("log.retention.hours", "168", 5),
    ]
    assert shown(cluster, TOPIC, "t", "retention.ms") == ("3", 2)
    assert [each.name for each in describe(cluster, BROKER, "").configs if each.value == "2"] == [
        "log.retention.ms"
    ]


@pytest.mark.parametrize(
    ("resource", "change"),
    [
        ("", ("listeners", SET, "PLAINTEXT://:1")),
        ("", ("num.io.threads", SET, "17")),
        ("2", ("num.io.threads", SET, "8")),
    ],
)
def test_what_a_broker_cannot_change_while_it_runs_is_refused(
    resource: str, change: tuple[str, int, str]
) -> None:
    assert alter(a_cluster(), BROKER, resource, change).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(("release", "code"), [("4.0", ErrorCode.NONE), ("4.1", ErrorCode.INVALID_CONFIG)])
def test_min_insync_replicas_is_the_clusters_with_eligible_leader_replicas(
    release: str, code: ErrorCode
) -> None:
    cluster = a_cluster(release)
    name = "min.insync.replicas"
    assert alter(cluster, BROKER, "1", (name, SET, "2")).error_code == code
    assert alter(cluster, BROKER, "", (name, DELETE, None)).error_code == code
    assert alter(cluster, BROKER, "", (name, SET, "2")).error_code == ErrorCode.NONE


def test_loggers_have_levels(cluster: Cluster) -> None:
    assert alter(cluster, LOGGER, "1", ("kafka.server.KafkaApis", SET, "DEBUG")).error_code == ErrorCode.NONE
    assert shown(cluster, LOGGER, "1", "kafka.server.KafkaApis") == ("DEBUG", 6)
    assert alter(cluster, LOGGER, "1", ("root", SET, "LOUD")).error_code == ErrorCode.INVALID_CONFIG
    assert alter(cluster, LOGGER, "1", ("root", DELETE, None)).error_code == ErrorCode.INVALID_REQUEST
    alter(cluster, LOGGER, "1", ("kafka.server.KafkaApis", DELETE, None))
    assert shown(cluster, LOGGER, "1", "kafka.server.KafkaApis") == ("INFO", 6)


def test_client_metrics_and_groups_have_configurations(cluster: Cluster) -> None:
    alter(cluster, CLIENT_METRICS, "m", ("interval.ms", SET, "1000"))
    assert shown(cluster, CLIENT_METRICS, "m", "interval.ms") == ("1000", 7)
    alter(cluster, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    assert shown(cluster, GROUP, "g", "consumer.session.timeout.ms") == ("50000", 8)
    refused = alter(cluster, GROUP, "g", ("consumer.session.timeout.ms", SET, "1"))
    assert (
        refused.error_message == "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive."
    )


def test_a_resource_type_that_a_release_lacks_fails_the_request() -> None:
    cluster = a_cluster("3.9")
    create(cluster, "t")
    asked = [DescribeConfigsResource(TOPIC, "t", None), DescribeConfigsResource(GROUP, "g", None)]
    answer = ask(cluster, DescribeConfigsRequest(asked))
    assert [each.error_code for each in answer.results] == [ErrorCode.INVALID_REQUEST] * 2
    assert alter(cluster, GROUP, "g").error_message == "Unknown resource type 32"


def test_a_broker_describes_itself_only(cluster: Cluster) -> None:
    found = {each.name: each for each in describe(cluster, BROKER, "2", broker=2).configs}
    assert (found["node.id"].value, found["node.id"].read_only) == ("2", True)
    assert found["ssl.keystore.password"].is_sensitive
    assert describe(cluster, BROKER, "2").error_code == ErrorCode.INVALID_REQUEST
