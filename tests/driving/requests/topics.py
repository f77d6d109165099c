"""Requests about topics, configurations, brokers and the connection."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import (
    alter_client_quotas,
    alter_configs,
    alter_partition_reassignments,
    alter_user_scram_credentials,
    common,
    create_partitions,
    create_topics,
    delete_topics,
    describe_client_quotas,
    describe_configs,
    describe_topic_partitions,
    describe_user_scram_credentials,
    elect_leaders,
    incremental_alter_configs,
    list_config_resources,
    list_partition_reassignments,
    metadata,
    of_administrators,
    push_telemetry,
)

from ..many import BIG, TIMEOUT_MS, Many, one_batch
from .about import about


@about(ApiKey.METADATA)
def _metadata(many: Many) -> Iterator[Any]:
    yield metadata.MetadataRequest(None)
    yield metadata.MetadataRequest([metadata.MetadataRequestTopic(name=name) for name in many.topics])


@about(ApiKey.METADATA, "that creates topics")
def _metadata_creating(many: Many) -> Iterator[Any]:
    names = [f"new.topic_{i}" for i in range(many.n)]
    yield metadata.MetadataRequest([metadata.MetadataRequestTopic(name=name) for name in names])


@about(ApiKey.CREATE_TOPICS)
def _create_topics(many: Many) -> Iterator[Any]:
    configs = [of_administrators.Config("retention.ms", "1000")]
    yield create_topics.CreateTopicsRequest(
        [create_topics.CreatableTopic(f"new_topic.{i}", 1, 3, configs=configs) for i in range(many.n)]
    )


@about(ApiKey.CREATE_TOPICS, "with many partitions")
def _create_partitioned(many: Many) -> Iterator[Any]:
    yield create_topics.CreateTopicsRequest([create_topics.CreatableTopic("new", many.n, 3)])
    assigned = [create_topics.CreatableReplicaAssignment(i, [1, 2]) for i in range(many.n)]
    topic = create_topics.CreatableTopic("assigned", -1, -1, assigned)
    yield create_topics.CreateTopicsRequest([topic])


@about(ApiKey.DELETE_TOPICS)
def _delete_topics(many: Many) -> Iterator[Any]:
    many.commit_all()
    for name in many.topics:
        many.send(many.commit(BIG, [(name, 0)]))
    asked = [delete_topics.DeleteTopicState(name) for name in many.topics]
    yield delete_topics.DeleteTopicsRequest(asked, TIMEOUT_MS)


@about(ApiKey.DESCRIBE_CONFIGS)
def _describe_configs(many: Many) -> Iterator[Any]:
    for kind, names in ((2, many.topics), (4, ["1"] * many.n), (32, many.groups), (16, many.groups)):
        asked = [describe_configs.DescribeConfigsResource(kind, name, None) for name in names]
        yield describe_configs.DescribeConfigsRequest(asked, True, True)


@about(ApiKey.ALTER_CONFIGS)
def _alter_configs(many: Many) -> Iterator[Any]:
    change = [of_administrators.Config("retention.ms", "1000")]
    asked = [alter_configs.AlterConfigsResource(2, name, change) for name in many.topics]
    yield alter_configs.AlterConfigsRequest(asked)


@about(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def _incremental_alter_configs(many: Many) -> Iterator[Any]:
    change = [incremental_alter_configs.AlterableConfig("retention.ms", 0, "1000")]
    asked = [incremental_alter_configs.AlterConfigsResource(2, name, change) for name in many.topics]
    yield incremental_alter_configs.IncrementalAlterConfigsRequest(asked)


@about(ApiKey.INCREMENTAL_ALTER_CONFIGS, "of brokers")
def _incremental_alter_broker_configs(many: Many) -> Iterator[Any]:
    """Topics inherit it."""
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    change = [incremental_alter_configs.AlterableConfig("log.retention.ms", 0, "1000")]
    asked = [incremental_alter_configs.AlterConfigsResource(4, name, change) for name in ("", "1")]
    yield incremental_alter_configs.IncrementalAlterConfigsRequest(asked)


@about(ApiKey.INCREMENTAL_ALTER_CONFIGS, "of subscriptions and groups")
def _incremental_alter_other_configs(many: Many) -> Iterator[Any]:
    for kind, config in ((16, "interval.ms"), (32, "consumer.session.timeout.ms")):
        change = [incremental_alter_configs.AlterableConfig(config, 0, "45000")]
        asked = [incremental_alter_configs.AlterConfigsResource(kind, name, change) for name in many.groups]
        yield incremental_alter_configs.IncrementalAlterConfigsRequest(asked)
    yield list_config_resources.ListConfigResourcesRequest()


@about(ApiKey.CREATE_PARTITIONS)
def _create_partitions(many: Many) -> Iterator[Any]:
    asked = [create_partitions.CreatePartitionsTopic(name, 2, None) for name in many.topics]
    yield create_partitions.CreatePartitionsRequest(asked, TIMEOUT_MS)


@about(ApiKey.ELECT_LEADERS)
def _elect_leaders(many: Many) -> Iterator[Any]:
    topics = [common.TopicPartitions(BIG, list(range(many.n)))]
    yield elect_leaders.ElectLeadersRequest(0, topics)


@about(ApiKey.ELECT_LEADERS, "that elects")
def _elect_other_leaders(many: Many) -> Iterator[Any]:
    many.stop_broker(1)
    many.start_broker(1)
    many.advance(TIMEOUT_MS)
    yield elect_leaders.ElectLeadersRequest(0, None)


@about(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def _reassign(many: Many) -> Iterator[Any]:
    yield from _alter_partition_reassignments(many, [1, 2])


def _alter_partition_reassignments(many: Many, replicas: list[int]) -> Iterator[Any]:
    asked = [alter_partition_reassignments.ReassignablePartition(i, replicas) for i in range(many.n)]
    topics = [alter_partition_reassignments.ReassignableTopic(BIG, asked)]
    yield alter_partition_reassignments.AlterPartitionReassignmentsRequest(topics=topics)


@about(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def _list_partition_reassignments(many: Many) -> Iterator[Any]:
    many.stop_broker(3)
    for request in _alter_partition_reassignments(many, [1, 3]):
        many.send(request)
    yield list_partition_reassignments.ListPartitionReassignmentsRequest(topics=None)


@about(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
def _describe_topic_partitions(many: Many) -> Iterator[Any]:
    topics = [describe_topic_partitions.TopicRequest(name) for name in [*many.topics, BIG, *many.groups]]
    yield describe_topic_partitions.DescribeTopicPartitionsRequest(topics)


@about(ApiKey.DESCRIBE_CLIENT_QUOTAS)
def _describe_client_quotas(many: Many) -> Iterator[Any]:
    for request in _alter_client_quotas(many):
        many.send(request)
    yield describe_client_quotas.DescribeClientQuotasRequest()


@about(ApiKey.ALTER_CLIENT_QUOTAS)
def _alter_client_quotas(many: Many) -> Iterator[Any]:
    op = alter_client_quotas.OpData("producer_byte_rate", 1e12)
    entities = [[of_administrators.QuotaEntity("user", name)] for name in many.groups]
    entries = [alter_client_quotas.AlteredEntry(entity, [op]) for entity in entities]
    yield alter_client_quotas.AlterClientQuotasRequest(entries)


@about(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
def _describe_user_scram_credentials(many: Many) -> Iterator[Any]:
    for request in _alter_user_scram_credentials(many):
        many.send(request)
    yield describe_user_scram_credentials.DescribeUserScramCredentialsRequest()
    users = [describe_user_scram_credentials.UserName(name) for name in [*many.groups, *many.topics]]
    yield describe_user_scram_credentials.DescribeUserScramCredentialsRequest(users)


@about(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)
def _alter_user_scram_credentials(many: Many) -> Iterator[Any]:
    upsertion = partial(alter_user_scram_credentials.ScramCredentialUpsertion, salted_password=b"p")
    upsertions = [upsertion(name, mechanism=1, iterations=4096) for name in many.groups]
    yield alter_user_scram_credentials.AlterUserScramCredentialsRequest(upsertions=upsertions)


@about(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "that deletes")
def _delete_user_scram_credentials(many: Many) -> Iterator[Any]:
    for request in _alter_user_scram_credentials(many):
        many.send(request)
    deletions = [alter_user_scram_credentials.ScramCredentialDeletion(name, 1) for name in many.groups]
    yield alter_user_scram_credentials.AlterUserScramCredentialsRequest(deletions)


@about(ApiKey.PUSH_TELEMETRY)
def _push_telemetry(many: Many) -> Iterator[Any]:
    yield push_telemetry.PushTelemetryRequest(many.cluster.environment.new_uuid())


@about(ApiKey.LIST_CONFIG_RESOURCES)
def _list_config_resources(many: Many) -> Iterator[Any]:
    yield list_config_resources.ListConfigResourcesRequest()
