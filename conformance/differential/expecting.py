"""What Metadata says of topics once what was answered is applied."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from .steps import MOVE, RESTARTS, Step

LATER: Final = frozenset({"create_topics", "delete_topics", "create_partitions", "metadata", MOVE}) | RESTARTS
"""After these coordinators of groups learn of topics, later than Metadata tells of them."""
_MAY_FORBID_CREATION: Final = 4
Topic = dict[str, Any]
Expected = Callable[[Topic], bool]


def nothing(topic: Topic) -> bool:
    return True


def met(expected: Mapping[str, Expected], topics: Iterable[Topic]) -> bool:
    """Whether all topics are as expected of them."""
    return all(expected.get(each["name"], nothing)(each) for each in topics)


def created(
    step: Step, fields: dict[str, Any], answer: Any, topics: Collection[str]
) -> Iterator[tuple[str, Expected]]:
    """Of which of `topics` it is expected that they are there."""
    if isinstance(answer, dict) and step.api in ("create_topics", "metadata"):
        for name in _created(step, fields, answer).intersection(topics):
            yield name, _is_there


def changed(
    step: Step, fields: dict[str, Any], answer: Any, *, all_up: bool
) -> Iterator[tuple[str, Expected]]:
    """What is expected of topics on several brokers; with `all_up` reassignments are over in the end."""
    if not isinstance(answer, dict):
        return
    match step.api:
        case "delete_topics":
            for each in answer["responses"]:
                if each["error_code"] == "NONE" and each["name"]:
                    yield each["name"], lambda topic: bool(topic["error_code"] != "NONE")
        case "create_partitions" if not fields["validate_only"]:
            counts = {each["name"]: each["count"] for each in fields["topics"]}
            for each in answer["results"]:
                if each["error_code"] == "NONE":
                    yield each["name"], _has(counts[each["name"]])
        case "alter_partition_reassignments":
            wanted = {
                (topic["name"], each["partition_index"]): each["replicas"]
                for topic in fields["topics"]
                for each in topic["partitions"]
            }
            for topic in answer["responses"]:
                placed = {
                    each["partition_index"]: wanted[topic["name"], each["partition_index"]]
                    for each in topic["partitions"]
                    if each["error_code"] == "NONE" and wanted[topic["name"], each["partition_index"]]
                }
                yield topic["name"], _placed(placed, over=all_up)
        case "elect_leaders":
            for result in answer["replica_election_results"]:
                elected = [
                    each["partition_id"]
                    for each in result["partition_result"]
                    if each["error_code"] == "NONE"
                ]
                yield result["topic"], _led_by_preferred(elected)


def _created(step: Step, fields: dict[str, Any], answer: dict[str, Any]) -> set[str]:
    """Topics that CreateTopics created, or Metadata that did not find them: they may not be there yet."""
    if step.api == "create_topics":
        if fields["validate_only"]:
            return set()
        return {each["name"] for each in answer["topics"] if each["error_code"] == "NONE"}
    if step.version >= _MAY_FORBID_CREATION and not fields["allow_auto_topic_creation"]:
        return set()
    missing = ("UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE")
    return {each["name"] for each in answer["topics"] if each["name"] and each["error_code"] in missing}


def _is_there(topic: Topic) -> bool:
    return bool(topic["error_code"] == "NONE")


def _has(count: int) -> Expected:
    return lambda topic: len(topic["partitions"]) == count


def _placed(replicas: dict[int, list[int]], *, over: bool) -> Expected:
    def holds(topic: Topic) -> bool:
        found = {each["partition_index"]: each["replica_nodes"] for each in topic["partitions"]}
        return all(
            found.get(index, [])[: None if over else len(wanted)] == wanted
            for index, wanted in replicas.items()
        )

    return holds


def _led_by_preferred(indexes: list[int]) -> Expected:
    def holds(topic: Topic) -> bool:
        return all(
            each["leader_id"] == each["replica_nodes"][0]
            for each in topic["partitions"]
            if each["partition_index"] in indexes
        )

    return holds
