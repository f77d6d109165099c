"""Requests for configurations, users and the cluster, as in `requests`."""

from typing import Any, Final

from .requests import DESCRIBE, Ask, Asked, two
from .stage import AclStage


def _resource(kind: int, name: str, **fields: Any) -> dict[str, Any]:
    return {"resource_type": kind, "resource_name": name, **fields}


def _resources(validates: bool = True, **fields: Any) -> Ask:
    def ask(s: AclStage) -> dict[str, Any]:
        topics = [_resource(2, s.named(each), **fields) for each in "ab"]
        others = [
            _resource(4, "1", **fields),
            _resource(32, s.named("g"), **fields),
            _resource(16, "metrics", **fields),
        ]
        return {"resources": [*topics, *others], **({"validate_only": True} if validates else {})}

    return ask


def _quota(s: AclStage) -> dict[str, Any]:
    entity = [{"entity_type": "user", "entity_name": s.named("u")}]
    ops = [{"key": "producer_byte_rate", "value": 1000.0}]
    return {"entries": [{"entity": entity, "ops": ops}], "validate_only": True}


def _scram(s: AclStage) -> dict[str, Any]:
    deletions = [{"name": s.named("u"), "mechanism": 1}]
    password = {"iterations": 4096, "salt": b"salt", "salted_password": b"p" * 32}
    return {"deletions": deletions, "upsertions": [{"name": s.named("v"), "mechanism": 1, **password}]}


RESOURCES: Final = (
    Asked(
        "describe_configs",
        _resources(validates=False, configuration_keys=["no such key"]),
        (
            DESCRIBE,
            "alice allow describe_configs on topic:a",
            "alice allow describe_configs on group:g",
            "alice allow describe_configs on cluster",
        ),
        (1, -1),
    ),
    Asked(
        "alter_configs",
        _resources(configs=[]),
        (
            "alice allow alter_configs on topic:a",
            "alice allow alter_configs on group:g",
            "alice allow alter_configs on cluster",
        ),
    ),
    Asked(
        "incremental_alter_configs",
        _resources(configs=[]),
        (
            "alice allow alter_configs on topic:a",
            "alice allow alter_configs on group:g",
            "alice allow alter_configs on cluster",
        ),
    ),
    Asked(
        "list_config_resources",
        lambda s: {"resource_types": [16]},
        ("alice allow describe_configs on cluster",),
    ),
    Asked(
        "describe_client_quotas",
        lambda s: {"components": [{"entity_type": "user", "match_type": 0, "match": s.named("u")}]},
        ("alice allow describe_configs on cluster",),
    ),
    Asked("alter_client_quotas", _quota, ("alice allow alter_configs on cluster",)),
    Asked(
        "describe_user_scram_credentials",
        lambda s: {"users": [{"name": s.named("u")}]},
        ("alice allow describe on cluster",),
    ),
    Asked("alter_user_scram_credentials", _scram, ("alice allow describe on cluster",)),
    Asked(
        "describe_cluster",
        lambda s: {"include_cluster_authorized_operations": True},
        ("alice allow alter on cluster",),
    ),
    Asked(
        "describe_quorum",
        lambda s: {"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]},
        ("alice allow create on cluster",),
    ),
    Asked(
        "describe_log_dirs",
        lambda s: {"topics": [{"topic": s.named("a"), "partitions": [0]}]},
        ("alice allow create on cluster",),
        (1, 2, -1),
    ),
    Asked(
        "alter_replica_log_dirs",
        lambda s: {"dirs": [{"path": "/x", "topics": two(s, partitions=[0])}]},
        ("alice allow describe on cluster",),
        (1, -1),
    ),
    Asked(
        "elect_leaders",
        lambda s: {"election_type": 0, "topic_partitions": two(s, "topic", partitions=[0]), "timeout": 5000},
        ("alice allow describe on cluster",),
        (0, -1),
    ),
    Asked(
        "alter_partition_reassignments",
        lambda s: {"timeout": 5000, "topics": two(s, partitions=[{"partition_index": 0, "replicas": None}])},
        ("alice allow describe on cluster",),
    ),
    Asked(
        "list_partition_reassignments",
        lambda s: {"timeout": 5000, "topics": two(s, partition_indexes=[0])},
        ("alice allow create on cluster", "alice allow describe on cluster"),
    ),
    Asked(
        "update_features",
        lambda s: {
            "timeout": 5000,
            "feature_updates": [{"feature": "f", "max_version_level": 1, "upgrade_type": 1}],
            "validate_only": True,
        },
        ("alice allow describe on cluster",),
        (0, -1),
    ),
    Asked("unregister_broker", lambda s: {"broker_id": 77}, ("alice allow describe on cluster",)),
    Asked(
        "describe_acls",
        lambda s: {
            "resource_type_filter": 2,
            "resource_name_filter": s.named("b"),
            "pattern_type_filter": 3,
            "operation": 1,
            "permission_type": 1,
        },
        ("alice allow create on cluster", "alice allow describe on cluster"),
    ),
    Asked(
        "create_acls",
        lambda s: {
            "creations": [
                {
                    "resource_type": 2,
                    "resource_name": s.named("b"),
                    "resource_pattern_type": 3,
                    "principal": "User:x",
                    "host": "*",
                    "operation": 3,
                    "permission_type": 3,
                }
            ]
        },
        ("alice allow describe on cluster",),
    ),
    Asked(
        "delete_acls",
        lambda s: {
            "filters": [
                {
                    "resource_type_filter": 2,
                    "resource_name_filter": s.named("b"),
                    "pattern_type_filter": 3,
                    "operation": 1,
                    "permission_type": 1,
                }
            ]
        },
        ("alice allow describe on cluster", "alice allow alter on cluster"),
    ),
    Asked("get_telemetry_subscriptions", lambda s: {"client_instance_id": None}, ()),
)
