"""Versions of requests and answers that brokers had up to 3.9 (KIP-896), which kio does not have; none is
flexible.

The schemas are those of kafka-clients 3.9.2.
"""

import functools
from collections.abc import Mapping
from typing import Final, NamedTuple

from .kio_modules import kio_class, kio_module
from .remade import Layouts, Member, remade


class _Old(NamedTuple):
    """What differs from kio's `lowest` version, by version; those that are not there have nothing else."""

    lowest: int
    layouts: Mapping[int, Layouts] = {}


_PRODUCE: Final[Layouts] = {"ProduceRequest": ("acks", "timeout", "topic_data")}
_PRODUCED: Final[Layouts] = {"PartitionProduceResponse": ("index", "error_code", "base_offset")}
_FETCHED: Final[Layouts] = {"PartitionData": ("partition_index", "error_code", "high_watermark", "records")}
_FETCH: Final = ("replica_id", "max_wait", "min_bytes")
_FILTER: Final = (
    "resource_type_filter",
    "resource_name_filter",
    "principal_filter",
    "host_filter",
    "operation",
    "permission_type",
)
_ACL: Final = ("principal", "host", "operation", "permission_type")
_EPOCHS: Final[Layouts] = {
    "OffsetForLeaderPartition": ("partition", "leader_epoch"),
    "OffsetForLeaderEpochResponse": ("topics",),
}

_APIS: Final[Mapping[str, _Old]] = {
    "produce": _Old(
        3,
        {
            0: {**_PRODUCE, **_PRODUCED, "ProduceResponse": ("responses",)},
            1: {**_PRODUCE, **_PRODUCED},
            2: _PRODUCE,
        },
    ),
    "fetch": _Old(
        4,
        {
            0: {**_FETCHED, "FetchRequest": (*_FETCH, "topics"), "FetchResponse": ("responses",)},
            1: {**_FETCHED, "FetchRequest": (*_FETCH, "topics")},
            2: {**_FETCHED, "FetchRequest": (*_FETCH, "topics")},
            3: {**_FETCHED, "FetchRequest": (*_FETCH, "max_bytes", "topics")},
        },
    ),
    "list_offsets": _Old(
        1,
        {
            0: {
                "ListOffsetsPartition": (
                    "partition_index",
                    "timestamp",
                    Member("max_num_offsets", int, "int32", default=1),
                ),
                "ListOffsetsPartitionResponse": (
                    "partition_index",
                    "error_code",
                    Member("old_style_offsets", tuple[int, ...], "int64"),
                ),
            }
        },
    ),
    "offset_commit": _Old(
        2,
        {
            0: {"OffsetCommitRequest": ("group_id", "topics")},
            1: {
                "OffsetCommitRequest": (
                    "group_id",
                    "generation_id_or_member_epoch",
                    "member_id",
                    "topics",
                ),
                "OffsetCommitRequestPartition": (
                    "partition_index",
                    "committed_offset",
                    Member("commit_timestamp", int, "int64", default=-1),
                    "committed_metadata",
                ),
            },
        },
    ),
    "offset_fetch": _Old(1),
    "create_topics": _Old(
        2,
        {
            0: {
                "CreateTopicsRequest": ("topics", "timeout"),
                "CreateTopicsResponse": ("topics",),
                "CreatableTopicResult": ("name", "error_code"),
            },
            1: {"CreateTopicsResponse": ("topics",)},
        },
    ),
    "delete_topics": _Old(1, {0: {"DeleteTopicsResponse": ("responses",)}}),
    "offset_for_leader_epoch": _Old(
        2, {0: {**_EPOCHS, "EpochEndOffset": ("error_code", "partition", "end_offset")}, 1: _EPOCHS}
    ),
    "write_txn_markers": _Old(1),
    "describe_acls": _Old(
        1,
        {
            0: {
                "DescribeAclsRequest": _FILTER,
                "DescribeAclsResource": ("resource_type", "resource_name", "acls"),
            }
        },
    ),
    "create_acls": _Old(1, {0: {"AclCreation": ("resource_type", "resource_name", *_ACL)}}),
    "delete_acls": _Old(
        1,
        {
            0: {
                "DeleteAclsFilter": _FILTER,
                "DeleteAclsMatchingAcl": (
                    "error_code",
                    "error_message",
                    "resource_type",
                    "resource_name",
                    *_ACL,
                ),
            }
        },
    ),
    "describe_configs": _Old(
        1,
        {
            0: {
                "DescribeConfigsRequest": ("resources",),
                "DescribeConfigsResourceResult": (
                    "name",
                    "value",
                    "read_only",
                    Member("is_default", bool, "bool"),
                    "is_sensitive",
                ),
            }
        },
    ),
    "alter_replica_log_dirs": _Old(1),
    "describe_log_dirs": _Old(1),
    "create_delegation_token": _Old(1),
    "renew_delegation_token": _Old(1),
    "expire_delegation_token": _Old(1),
    "describe_delegation_token": _Old(1),
}


def lowest(api: str) -> int | None:
    """kio's lowest version of `api`, if older ones are here, which begin with 0."""
    old = _APIS.get(api)
    return None if old is None else old.lowest


@functools.cache
def load(api: str, version: int, kind: str) -> type:
    """The class of a version that is lower than kio's `lowest`; `kind` is Request or Response."""
    old = _APIS[api]
    header = kio_module(f"schema.{kind.lower()}_header.v{1 if kind == 'Request' else 0}.header")
    return remade(
        kio_class(api, old.lowest, kind),
        version,
        old.layouts.get(version, {}),
        getattr(header, f"{kind}Header"),
    )
