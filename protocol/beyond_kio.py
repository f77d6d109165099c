"""Versions of requests and answers that kio does not have yet, with the schemas of kafka-clients 4.4.0."""

import functools
import uuid
from typing import Final

from .kio_modules import kio_class
from .new_to_kio import topology_description
from .remade import Layouts, Member, remade

NEWEST: Final = {
    "api_versions": 5,
    "delete_groups": 3,
    "streams_group_describe": 1,
    "streams_group_heartbeat": 1,
    "txn_offset_commit": 6,
}
"""The one version of each API that is here."""

_TOPIC_ID: Final = Member("topic_id", uuid.UUID | None, "uuid")


@functools.cache
def _layouts() -> Layouts:
    """What differs from kio's newest version."""
    return {
        "ApiVersionsRequest": (  # KIP-1242
            "client_software_name",
            "client_software_version",
            Member("cluster_id", str | None, "string", default=None),
            Member("node_id", int, "int32", default=-1),
        ),
        "DeletableGroupResult": ("group_id", "error_code", Member("error_message", str | None, "string")),
        "StreamsGroupDescribeRequest": (  # KIP-1331
            "group_ids",
            "include_authorized_operations",
            Member("include_topology_description", bool, "bool", default=False),
        ),
        "DescribedGroup": (  # KIP-1331, KIP-1357
            "error_code",
            "error_message",
            "group_id",
            "group_state",
            "group_epoch",
            "assignment_epoch",
            "topology",
            "members",
            "authorized_operations",
            Member("topology_description", topology_description() | None, default=None),
            Member("topology_description_status", int, "int8", default=0),
            Member("assignor_name", str | None, "string", default=None),
        ),
        "StreamsGroupHeartbeatResponse": (  # KIP-1331
            "throttle_time",
            "error_code",
            "error_message",
            "member_id",
            "member_epoch",
            "heartbeat_interval",
            "task_offset_interval",
            Member("acceptable_recovery_lag", int, "int64", default=-1),
            "status",
            "active_tasks",
            "standby_tasks",
            "warmup_tasks",
            Member("topology_description_required", bool, "bool", default=False),
            "endpoint_information_epoch",
            "partitions_by_user_endpoint",
        ),
        "TxnOffsetCommitRequestTopic": (_TOPIC_ID, "partitions"),
        "TxnOffsetCommitResponseTopic": (_TOPIC_ID, "partitions"),
    }


@functools.cache
def load(api: str, kind: str) -> type:
    """The class of the `NEWEST` version of `api` (such as `delete_groups`); `kind` is Request or Response."""
    return remade(kio_class(api, NEWEST[api] - 1, kind), NEWEST[api], _layouts())
