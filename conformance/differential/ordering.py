"""Answers without the order of hash tables."""

import re
from collections.abc import Collection
from typing import Any, Final

_MISSING: Final = re.compile(r"(?<=Internal topics are missing: )[\w.-]+(, [\w.-]+)+(?=$|;)", re.ASCII)

_OF_HASH_TABLES: Final = {
    "describe_acls": {"resources", "acls"},
    "delete_acls": {"matching_acls"},
    "alter_client_quotas": {"entries", "entity"},
    "describe_client_quotas": {"entries", "entity", "values"},
    "alter_user_scram_credentials": {"results"},
    "describe_user_scram_credentials": {"results", "credential_infos"},
}
"""Lists that have no order, by API."""


def with_lists_in_order(value: Any, api: str) -> Any:
    """With the lists that have none in an order."""
    names = _OF_HASH_TABLES.get(api)
    return value if names is None else _in_order(value, names)


def _in_order(value: Any, names: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_in_order(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _in_order(each, names) for key, each in value.items()}
    return {
        key: sorted(each, key=str) if key in names and isinstance(each, list) else each
        for key, each in found.items()
    }


def unordered(value: Any) -> Any:
    """Without the order of hash tables: of partitions in DescribeTransactions and ElectLeaders, and of
    producers, whose ids are others at each broker."""
    if isinstance(value, dict):
        return {key: unordered(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(isinstance(each, int) for each in value):
        return sorted(value)
    found = list(map(unordered, value))
    for name in ("producer_id", "partition_id"):
        if all(isinstance(each, dict) and name in each for each in found):
            return sorted(found, key=lambda each: str(each[name]))
    return found


def of_members(value: Any, *, counted: bool) -> Any:
    """With the topics of members in order, and, if they are `counted`, with the number of their partitions:
    which ones these are goes by topic ids."""
    if isinstance(value, list):
        return [of_members(each, counted=counted) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: of_members(each, counted=counted) for key, each in value.items()}
    if "subscribed_topic_names" in found:
        found["subscribed_topic_names"] = sorted(found["subscribed_topic_names"])
    if counted and isinstance(topics := found.get("topic_partitions"), list):
        found["topic_partitions"] = sum(len(each["partitions"]) for each in topics)
    return found


def of_endpoints(answer: dict[str, Any]) -> dict[str, Any]:
    """With endpoints, and the partitions of each, in order."""
    listed: list[dict[str, Any]] | None = answer.get("partitions_by_user_endpoint")
    if not listed:
        return answer
    ordered: list[dict[str, Any]] = [
        {key: sorted(some, key=str) if isinstance(some, list) else some for key, some in each.items()}
        for each in listed
    ]
    ordered.sort(key=lambda each: (each["user_endpoint"]["port"], str(each)))
    return {**answer, "partitions_by_user_endpoint": ordered}


def with_missing_in_order(answer: dict[str, Any]) -> dict[str, Any]:
    """With missing internal topics in order, up to three: theirs is that of the hashes of whole names."""
    told = [
        {**each, "status_detail": _MISSING.sub(lambda found: _sorted_names(found[0]), each["status_detail"])}
        for each in answer["status"] or ()
    ]
    return {**answer, "status": told if answer["status"] is not None else None}


def _sorted_names(listed: str) -> str:
    return ", ".join(sorted(listed.split(", ")))
