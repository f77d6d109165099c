"""What companions have of the control API, by its OpenAPI document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mockbroker.control.openapi import document
from mockbroker.control.table import OPERATIONS

NAMES: Final[Mapping[str, str]] = {
    "topics-create": "create_topic",
    "topics-delete": "delete_topic",
    "records-produce": "produce",
    "records-delete": "delete_records",
    "brokers-stop": "stop_broker",
    "brokers-kill": "kill_broker",
    "brokers-start": "start_broker",
    "brokers-cut-off": "cut_off",
    "brokers-rejoin": "rejoin",
    "brokers-slow-metadata": "slow_metadata",
    "brokers-drop-fetch-sessions": "drop_fetch_sessions",
    "brokers-drop-share-sessions": "drop_share_sessions",
    "groups-configure": "configure_group",
    "groups-wait": "wait_for_group",
    "groups-alter-offset": "alter_offset",
    "groups-expire-locks": "expire_locks",
    "groups-move-coordinator": "move_coordinator",
    "groups-evict": "evict_member",
    "listeners-close": "close_listener",
    "listeners-open": "open_listener",
    "partitions-expire-producer": "expire_producer",
    "partitions-move-leader": "move_leader",
    "followers-pause": "pause_follower",
    "followers-slow": "slow_follower",
    "followers-resume": "resume_follower",
    "followers-fail": "fail_follower",
    "transactions-expire": "expire_transactional_id",
    "transactions-move-coordinator": "move_transaction_coordinator",
    "acls-add": "add_acl",
    "acls-remove": "remove_acl",
    "users-set-password": "set_password",
    "users-remove": "remove_user",
    "handshakes-break": "break_handshakes",
    "handshakes-mend": "mend_handshakes",
    "policies-set": "set_policy",
    "policies-reset": "reset_policy",
    "faults-clear": "clear_faults",
    "clock-advance": "advance_clock",
}
"""Methods of a cluster, by the ids of operations: as in Python, where they belong to the cluster itself."""
_BY_PLACE: Final[Mapping[str, Sequence[str]]] = {"records-produce": ["value"]}
"""What a method takes by place although the operation can do without it."""
ZERO_COUNTS: Final = frozenset(
    {"bytes", "partition", "producer_id", "replication_factor", "seed", "timestamp_ms", "version", "value"}
)
"""Fields in which zero is not as good as nothing."""


@dataclass(frozen=True)
class Method:
    """One thing that can be done to a cluster. `needed` are taken by place, those of the path first.

    JSON schemas by name, as in `optional`.
    """

    name: str
    summary: str
    method: str
    path: str
    needed: Mapping[str, Any]
    optional: Mapping[str, Any]

    @property
    def in_path(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)


@dataclass(frozen=True)
class FaultSchema:
    """What faults do, each with what that is, and all fields that one may have, by name."""

    actions: Mapping[str, str]
    fields: Mapping[str, Any]


def methods() -> Iterator[Method]:
    """In the order of the control API."""
    for path, by_method in document(OPERATIONS.values())["paths"].items():
        for method, operation in by_method.items():
            if name := NAMES.get(operation["operationId"]):
                yield _method(name, method.upper(), path, operation)


def _method(name: str, method: str, path: str, operation: Mapping[str, Any]) -> Method:
    body = _body(operation)
    fields = {each["name"]: each["schema"] for each in operation["parameters"]} | body.get("properties", {})
    by_place = [*body.get("required", ()), *_BY_PLACE.get(operation["operationId"], ())]
    needed = dict.fromkeys([*re.findall(r"{(\w+)}", path), *by_place])
    optional = {each: schema for each, schema in fields.items() if each not in needed}
    return Method(name, operation["summary"], method, path, {each: fields[each] for each in needed}, optional)


def cluster_options() -> Mapping[str, Any]:
    """The options of `POST /clusters`, each with its JSON schema."""
    options: Mapping[str, Any] = _body(document(OPERATIONS.values())["paths"]["/clusters"]["post"])[
        "properties"
    ]
    return options


def fault_schema() -> FaultSchema:
    """That of `POST /faults`."""
    schema = _body(document(OPERATIONS.values())["paths"]["/faults"]["post"])
    actions = {each["title"]: _sentence(each["description"]) for each in schema["oneOf"]}
    own: dict[str, Any] = {}
    for name, field in (found for each in schema["oneOf"] for found in each["properties"].items()):
        own[name] = _either(own.get(name, field), field)
    return FaultSchema(actions, {**own, **schema["properties"]})


def _sentence(text: str) -> str:
    """The first one, which may have names with dots."""
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


def _either(one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """A field of two actions, which may have other choices in each."""
    if "enum" not in one or "enum" not in other:
        return one
    return {**one, "enum": list(dict.fromkeys([*one["enum"], *other["enum"]]))}


def _body(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    body: Mapping[str, Any] = content.get("application/json", {}).get("schema", {})
    return body
