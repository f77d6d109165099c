"""Questions whose answers depend on how brokers were configured, found by asking mocks that were not so."""

from collections.abc import Iterator, Mapping
from typing import Final

from ..rig.setup import BROKER_CONFIG

_ALL_CONFIGS: Final = "describe_configs.broker"
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "auto.create.topics.enable": (
        "describe_configs.chosen_broker_keys",
        "metadata.auto_creation",
        "metadata.auto_creation_of_many",
    ),
    "default.replication.factor": (
        "create_topics.default_counts",
        "create_topics.three_brokers",
        "metadata.auto_creation",
        "metadata.auto_creation_of_many",
    ),
    "delete.topic.enable": (
        "delete_topics.by_id",
        "delete_topics.by_name",
        "delete_topics.created_again",
        "delete_topics.duplicates",
        "delete_topics.names",
        "delete_topics.several",
        "delete_topics.the_longest_text",
        "fetch.deleted_while_waiting",
        "fetch.topic_deleted",
        "metadata.deleted_topic",
        "offset_fetch.deleted_topic",
    ),
    "log.retention.ms": (
        "create_topics.returned_configs",
        "describe_configs.chosen_broker_keys",
        "describe_configs.chosen_keys",
        "describe_configs.resources_named_twice",
        "describe_configs.several_resources",
        "describe_configs.topic_synonyms",
    ),
    "num.partitions": (
        "create_topics.default_counts",
        "create_topics.three_brokers",
        "describe_configs.another_broker",
        "describe_configs.chosen_broker_keys",
        "metadata.auto_creation",
    ),
    "offsets.topic.num.partitions": (
        "describe_topic_partitions.topics",
        "metadata.authorized_operations",
        "metadata.internal_topic",
    ),
}


def needed(question: str) -> Iterator[str]:
    """The configurations that the answers to a question depend on."""
    for name in BROKER_CONFIG:
        if question == _ALL_CONFIGS or question in _NEEDED.get(name, ()):
            yield name
