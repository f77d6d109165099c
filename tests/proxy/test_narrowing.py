"""A newer cluster that clients are shown as an older release."""

from typing import Any

from confluent_kafka import Producer

from mockbroker import MockCluster, MockProxy
from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from mockbroker.protocol.messages.metadata import MetadataResponse
from mockbroker.protocol.releases import facts, parse

from .between import Between, request, taken

ASKED: dict[str, Any] = {"client_software_name": "c", "client_software_version": "1"}


def shown(kafka: str, answer: ApiVersionsResponse) -> ApiVersionsResponse:
    between = Between(kafka=kafka)
    between.ask("api_versions", 3, **ASKED)
    found: ApiVersionsResponse = between.answer(ApiKey.API_VERSIONS, 3, answer)
    return found


def test_no_more_is_advertised_than_release_and_cluster_have() -> None:
    theirs = [ApiVersion(ApiKey.PRODUCE, 3, 13), ApiVersion(ApiKey.METADATA, 0, 5), ApiVersion(76, 1, 2)]
    found = shown("3.9", ApiVersionsResponse(api_keys=theirs))
    assert found.api_keys == [ApiVersion(ApiKey.PRODUCE, 3, 11), ApiVersion(ApiKey.METADATA, 0, 5)]


def test_levels_of_features_are_those_of_the_release_at_most() -> None:
    answer = ApiVersionsResponse(
        supported_features=[
            SupportedFeatureKey("metadata.version", 7, 33),
            SupportedFeatureKey("transaction.version", 0, 2),
        ],
        finalized_features_epoch=5,
        finalized_features=[
            FinalizedFeatureKey("metadata.version", 33, 33),
            FinalizedFeatureKey("transaction.version", 2, 2),
        ],
    )
    found = shown("3.9", answer)
    assert found.supported_features == [SupportedFeatureKey("metadata.version", 7, 21)]
    assert found.finalized_features == [FinalizedFeatureKey("metadata.version", 21, 21)]
    assert found.finalized_features_epoch == 5
    found = shown("2.4", answer)
    assert (found.supported_features, found.finalized_features) == ([], [])
    assert found.finalized_features_epoch == -1


def test_a_version_that_the_release_did_not_have_ends_the_connection_after_what_came_before() -> None:
    between = Between(kafka="2.4")
    assert between.ask("metadata", 8, 1, topics=[])
    assert not between.ask("metadata", 10, 2, topics=[])
    assert not between.session.wants_close
    between.answer(ApiKey.METADATA, 8, MetadataResponse(), 1)
    assert between.session.wants_close
    assert between.said == ["127.0.0.1: closed, api key 3 v10 is not served by Kafka 2.4"]


def test_an_api_versions_that_the_release_did_not_have_is_answered_with_what_it_has() -> None:
    between = Between(kafka="2.4")
    between.ask("metadata", 8, 1, topics=[])
    assert not between.ask("api_versions", 4, 2, **ASKED)
    first = answer_codec(ApiKey.METADATA, 8).encode(1, MetadataResponse())
    between.session.from_broker(first)
    answers = taken(between.session.to_client)
    assert answers.startswith(first)
    found = answer_codec(ApiKey.API_VERSIONS, 0).decode(answers[len(first) + 4 :])
    assert (found.error_code, found.api_keys) == (35, [ApiVersion(ApiKey.API_VERSIONS, 0, 3)])
    again = request("api_versions", 3, 3, **ASKED)
    assert between.ask("api_versions", 3, 3, **ASKED) == again


def test_a_client_speaks_the_versions_of_the_release() -> None:
    with (
        MockCluster(topics={"orders": 1}) as cluster,
        MockProxy(cluster.bootstrap_servers, kafka="2.1") as proxy,
    ):
        cluster.trace.events()
        producer = Producer({"bootstrap.servers": proxy.bootstrap_servers})
        producer.produce("orders", "order 1")
        assert producer.flush(60) == 0
        versions = {each.row()["version"] for each in cluster.trace.events("request", api="Produce")}
    low, high = facts(parse("2.1")).apis[ApiKey.PRODUCE]
    assert versions
    assert versions <= set(range(low, high + 1))
    assert not proxy.lines
