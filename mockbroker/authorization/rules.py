"""For each API, who may make which request (`KafkaApis.scala`, `ControllerApis.scala`)."""

from typing import Final

from ..acls import Operation as Do
from ..acls import ResourceType
from ..protocol.api_keys import ApiKey as Api
from . import groups, records, resources, share_groups, streams_groups, topics, transactions
from .refusing import ERROR, REQUEST, asked_by_handler, cluster, each, whole
from .verdict import Rule

_TOPIC: Final = ResourceType.TOPIC
_GROUP: Final = ResourceType.GROUP
_ID: Final = ResourceType.TRANSACTIONAL_ID

RULES: Final[dict[Api, Rule | None]] = {
    # Records
    Api.PRODUCE: records.produce,
    Api.FETCH: asked_by_handler,
    Api.LIST_OFFSETS: each(Api.LIST_OFFSETS, Do.DESCRIBE, _TOPIC, "topics"),
    Api.OFFSET_FOR_LEADER_EPOCH: records.offset_for_leader_epoch,
    Api.DELETE_RECORDS: each(Api.DELETE_RECORDS, Do.DELETE, _TOPIC, "topics"),
    # Topics
    Api.METADATA: topics.metadata,
    Api.DESCRIBE_TOPIC_PARTITIONS: topics.describe_partitions,
    Api.CREATE_TOPICS: topics.create,
    Api.DELETE_TOPICS: topics.delete,
    Api.CREATE_PARTITIONS: topics.once(Api.CREATE_PARTITIONS, Do.ALTER),
    Api.DESCRIBE_PRODUCERS: each(
        Api.DESCRIBE_PRODUCERS, Do.READ, _TOPIC, "topics", message="Topic authorization failed."
    ),
    # Groups
    Api.FIND_COORDINATOR: groups.find_coordinator,
    Api.JOIN_GROUP: whole(Api.JOIN_GROUP, Do.READ, _GROUP, "group_id"),
    Api.SYNC_GROUP: groups.sync,
    Api.HEARTBEAT: whole(Api.HEARTBEAT, Do.READ, _GROUP, "group_id"),
    Api.LEAVE_GROUP: whole(Api.LEAVE_GROUP, Do.READ, _GROUP, "group_id"),
    Api.CONSUMER_GROUP_HEARTBEAT: groups.consumer_heartbeat,
    Api.CONSUMER_GROUP_DESCRIBE: groups.describe_consumer_groups,
    Api.DESCRIBE_GROUPS: groups.describe,
    Api.LIST_GROUPS: groups.list_groups,
    Api.DELETE_GROUPS: each(Api.DELETE_GROUPS, Do.DELETE, _GROUP, "groups_names"),
    Api.OFFSET_COMMIT: groups.committing(Api.OFFSET_COMMIT, Do.READ),
    Api.OFFSET_FETCH: groups.offset_fetch,
    Api.OFFSET_DELETE: groups.committing(Api.OFFSET_DELETE, Do.DELETE),
    # Share groups
    Api.SHARE_GROUP_HEARTBEAT: share_groups.heartbeat,
    Api.SHARE_GROUP_DESCRIBE: share_groups.describe,
    Api.SHARE_FETCH: share_groups.reading(Api.SHARE_FETCH),
    Api.SHARE_ACKNOWLEDGE: share_groups.reading(Api.SHARE_ACKNOWLEDGE),
    Api.DESCRIBE_SHARE_GROUP_OFFSETS: share_groups.describe_offsets,
    Api.ALTER_SHARE_GROUP_OFFSETS: share_groups.changing_offsets(Api.ALTER_SHARE_GROUP_OFFSETS, Do.READ),
    Api.DELETE_SHARE_GROUP_OFFSETS: share_groups.changing_offsets(Api.DELETE_SHARE_GROUP_OFFSETS, Do.DELETE),
    Api.INITIALIZE_SHARE_GROUP_STATE: cluster(
        Api.INITIALIZE_SHARE_GROUP_STATE, Do.CLUSTER_ACTION, told=ERROR
    ),
    Api.READ_SHARE_GROUP_STATE: cluster(Api.READ_SHARE_GROUP_STATE, Do.CLUSTER_ACTION, told=ERROR),
    Api.WRITE_SHARE_GROUP_STATE: cluster(Api.WRITE_SHARE_GROUP_STATE, Do.CLUSTER_ACTION, told=ERROR),
    Api.DELETE_SHARE_GROUP_STATE: cluster(Api.DELETE_SHARE_GROUP_STATE, Do.CLUSTER_ACTION, told=ERROR),
    Api.READ_SHARE_GROUP_STATE_SUMMARY: cluster(
        Api.READ_SHARE_GROUP_STATE_SUMMARY, Do.CLUSTER_ACTION, told=ERROR
    ),
    # Streams groups
    Api.STREAMS_GROUP_HEARTBEAT: streams_groups.heartbeat,
    Api.STREAMS_GROUP_DESCRIBE: streams_groups.describe,
    Api.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: streams_groups.update_description,
    # Transactions
    Api.INIT_PRODUCER_ID: transactions.init_producer_id,
    Api.ADD_PARTITIONS_TO_TXN: transactions.add_partitions,
    Api.ADD_OFFSETS_TO_TXN: transactions.add_offsets,
    Api.TXN_OFFSET_COMMIT: transactions.commit_offsets,
    Api.END_TXN: whole(Api.END_TXN, Do.WRITE, _ID, "transactional_id"),
    Api.WRITE_TXN_MARKERS: cluster(Api.WRITE_TXN_MARKERS, Do.ALTER, Do.CLUSTER_ACTION, told=REQUEST),
    Api.DESCRIBE_TRANSACTIONS: transactions.describe,
    Api.LIST_TRANSACTIONS: transactions.list_transactions,
    # Configurations
    Api.DESCRIBE_CONFIGS: resources.configs(Api.DESCRIBE_CONFIGS, Do.DESCRIBE_CONFIGS),
    Api.ALTER_CONFIGS: resources.configs(Api.ALTER_CONFIGS, Do.ALTER_CONFIGS),
    Api.INCREMENTAL_ALTER_CONFIGS: resources.configs(Api.INCREMENTAL_ALTER_CONFIGS, Do.ALTER_CONFIGS),
    Api.LIST_CONFIG_RESOURCES: cluster(Api.LIST_CONFIG_RESOURCES, Do.DESCRIBE_CONFIGS),
    Api.DESCRIBE_CLIENT_QUOTAS: cluster(Api.DESCRIBE_CLIENT_QUOTAS, Do.DESCRIBE_CONFIGS),
    Api.ALTER_CLIENT_QUOTAS: cluster(Api.ALTER_CLIENT_QUOTAS, Do.ALTER_CONFIGS, told=ERROR),
    # Users
    Api.DESCRIBE_USER_SCRAM_CREDENTIALS: cluster(Api.DESCRIBE_USER_SCRAM_CREDENTIALS, Do.DESCRIBE),
    Api.ALTER_USER_SCRAM_CREDENTIALS: cluster(Api.ALTER_USER_SCRAM_CREDENTIALS, Do.ALTER, told=REQUEST),
    Api.DESCRIBE_ACLS: cluster(Api.DESCRIBE_ACLS, Do.DESCRIBE, told=REQUEST),
    Api.CREATE_ACLS: cluster(Api.CREATE_ACLS, Do.ALTER, told=REQUEST),
    Api.DELETE_ACLS: cluster(Api.DELETE_ACLS, Do.ALTER, told=REQUEST),
    Api.CREATE_DELEGATION_TOKEN: asked_by_handler,
    Api.DESCRIBE_DELEGATION_TOKEN: asked_by_handler,
    # The cluster
    Api.DESCRIBE_CLUSTER: resources.describe_cluster,
    Api.DESCRIBE_QUORUM: cluster(Api.DESCRIBE_QUORUM, Do.DESCRIBE, told=ERROR),
    Api.DESCRIBE_LOG_DIRS: cluster(Api.DESCRIBE_LOG_DIRS, Do.DESCRIBE),
    Api.ALTER_REPLICA_LOG_DIRS: cluster(Api.ALTER_REPLICA_LOG_DIRS, Do.ALTER),
    Api.ELECT_LEADERS: cluster(Api.ELECT_LEADERS, Do.ALTER, told=REQUEST),
    Api.ALTER_PARTITION_REASSIGNMENTS: cluster(Api.ALTER_PARTITION_REASSIGNMENTS, Do.ALTER, told=REQUEST),
    Api.LIST_PARTITION_REASSIGNMENTS: cluster(Api.LIST_PARTITION_REASSIGNMENTS, Do.DESCRIBE, told=REQUEST),
    Api.UPDATE_FEATURES: cluster(Api.UPDATE_FEATURES, Do.ALTER, told=REQUEST),
    Api.UNREGISTER_BROKER: cluster(Api.UNREGISTER_BROKER, Do.ALTER, told=REQUEST),
    Api.UNREGISTER_CONTROLLER: cluster(Api.UNREGISTER_CONTROLLER, Do.ALTER, told=REQUEST),
    # Whoever is connected may ask
    Api.API_VERSIONS: None,
    Api.SASL_HANDSHAKE: None,
    Api.SASL_AUTHENTICATE: None,
    Api.GET_TELEMETRY_SUBSCRIPTIONS: None,
    Api.PUSH_TELEMETRY: None,
    Api.RENEW_DELEGATION_TOKEN: None,
    Api.EXPIRE_DELEGATION_TOKEN: None,
}
"""None if nothing is needed."""
