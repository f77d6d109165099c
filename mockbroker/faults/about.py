"""What a request is about: the topics, partitions, groups, transactional ids and other resources that it
names."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ..protocol.api_keys import ApiKey
from ..protocol.primitives import short_uuid

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

PARTITION_NAMES: Final = ("index", "partition_index", "partition", "partition_id")
TOPIC_NAMES: Final = ("name", "topic", "topic_name")
_GROUP_NAMES: Final = ("group_id", "groups", "groups_names")
_TRANSACTION_NAMES: Final = ("transactional_id", "v3_and_below_transactional_id", "transactional_ids")
_GROUP_KEY_TYPE: Final = 0
_RESOURCE_NAMES: Final[Mapping[ApiKey, Sequence[str]]] = {
    ApiKey.LEAVE_GROUP: ("member_id", "group_instance_id"),
    ApiKey.DESCRIBE_ACLS: ("resource_name_filter",),
    ApiKey.CREATE_ACLS: ("resource_name",),
    ApiKey.DELETE_ACLS: ("resource_name_filter",),
    ApiKey.DESCRIBE_CONFIGS: ("resource_name",),
    ApiKey.ALTER_CONFIGS: ("resource_name",),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: ("resource_name",),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: ("match",),
    ApiKey.ALTER_CLIENT_QUOTAS: ("entity_name",),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: ("name",),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: ("name",),
    ApiKey.UPDATE_FEATURES: ("feature",),
}
_ENTRY_NAMES: Final = tuple(
    {"user": None} | {name: None for names in _RESOURCE_NAMES.values() for name in names}
)
"""Those of an entry of an answer, or of a request's entry of which an answer has the error."""


@dataclass(slots=True)
class About:
    """Kafka's names; `partitions` has (topic, index). Of `resources`, see `Match`."""

    topics: set[str] = field(default_factory=set)
    topic_ids: set[str] = field(default_factory=set)
    partitions: set[tuple[str, int]] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    transactional_ids: set[str] = field(default_factory=set)
    resources: set[str] = field(default_factory=set)
    most: int = sys.maxsize

    @property
    def full(self) -> bool:
        """Whether there are the most, or a few more."""
        count = len(self.topics) + len(self.partitions) + len(self.groups) + len(self.transactional_ids)
        return count >= self.most


def about(api: ApiKey, request: Any, cluster: "Cluster", most: int = sys.maxsize) -> About:
    """The names in a request, some `most` of them. Topic ids are resolved; for an unknown one there is no
    topic."""
    found = About(most=most)
    if api is ApiKey.FIND_COORDINATOR:
        keys = {key for key in (request.key, *request.coordinator_keys[:most]) if key}
        (found.groups if request.key_type == _GROUP_KEY_TYPE else found.transactional_ids).update(keys)
    elif api is ApiKey.METADATA and request.topics is None:
        found.topics.update(islice(cluster.topics, most))
    else:
        _collect(request, found, cluster)
    if api in _RESOURCE_NAMES:
        found.resources.update(islice(_named(request, _RESOURCE_NAMES[api]), most))
    return found


def resources_of(entry: Any, asked: Any) -> frozenset[str]:
    """The resources of an entry of an answer; if it names none, those of the request's entry `asked`."""
    parts = (entry, *_entries(getattr(entry, "entity", None)))
    found = (getattr(part, name, None) for part in parts for name in _ENTRY_NAMES)
    names = frozenset(each for each in found if each and isinstance(each, str))
    return names or (resources_of(asked, None) if asked is not None else names)


def _named(entity: Any, names: Sequence[str]) -> Iterator[str]:
    for each in fields(entity):
        value = getattr(entity, each.name)
        if each.name in names and value and isinstance(value, str):
            yield value
        for entry in _entries(value):
            if is_dataclass(entry):
                yield from _named(entry, names)


def topic_id_of(entity: Any) -> str | None:
    """The topic id in an entry, as Kafka writes it; None if it has none."""
    found = getattr(entity, "topic_id", None)
    return short_uuid(found) if found is not None else None


def topic_of(entity: Any, cluster: "Cluster") -> str | None:
    """The topic of an entry in a request or an answer, None if it has none."""
    for name in TOPIC_NAMES:
        if text := getattr(entity, name, None):
            return str(text)
    topic = cluster.topic_ids.get(getattr(entity, "topic_id", None))  # type: ignore[arg-type]
    return topic.name if topic else None


def _collect(entity: Any, found: About, cluster: "Cluster") -> None:
    for each in fields(entity):
        value = getattr(entity, each.name)
        if value is None:
            continue
        if each.name in _GROUP_NAMES:
            found.groups.update(_texts(value, found.most))
        elif each.name in _TRANSACTION_NAMES:
            found.transactional_ids.update(_texts(value, found.most))
        for entry in _entries(value):
            if found.full:
                return
            if "topic" in each.name:
                _collect_topic(entry, found, cluster)
            elif is_dataclass(entry):
                _collect(entry, found, cluster)


def _collect_topic(entry: Any, found: About, cluster: "Cluster") -> None:
    if topic_id := topic_id_of(entry):
        found.topic_ids.add(topic_id)
    topic = entry if isinstance(entry, str) else topic_of(entry, cluster)
    if not topic:
        return
    found.topics.add(topic)
    if isinstance(entry, str):
        return
    for each in fields(entry):
        if "partition" in each.name:
            for one in _entries(getattr(entry, each.name))[: found.most]:
                index = partition_of(one)
                if index is not None:
                    found.partitions.add((topic, index))


def partition_of(entry: Any) -> int | None:
    """The partition of an entry for a topic."""
    if isinstance(entry, int):
        return entry
    return next((getattr(entry, name) for name in PARTITION_NAMES if hasattr(entry, name)), None)


def _texts(value: Any, most: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        yield from (each for each in value[:most] if isinstance(each, str))


def _entries(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
