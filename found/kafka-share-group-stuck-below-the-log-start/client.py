"""A member gets one record at a time (record_limit); the log start moves into a batch that nobody has."""

import os

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker.rig.client import Client

SERVERS, GROUP = os.environ["BOOTSTRAP_SERVERS"], {"group_id": "billing"}
NODE = Client(*SERVERS.split(",")[0].split(":"))
RESET = {"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}
JOIN = {**GROUP, "member_id": "first", "member_epoch": 0, "subscribed_topic_names": ["orders"]}


def fetch(session, accept=()):
    topic = NODE.call("metadata", 12, {"topics": [{"name": "orders"}]})["topics"][0]
    said = [{"first_offset": each, "last_offset": each, "acknowledge_types": [1]} for each in accept]
    part = {"partition_index": 0, "acknowledgement_batches": said}
    asked = {**GROUP, "member_id": "first", "share_session_epoch": session, "forgotten_topics_data": []}
    asked |= {"max_wait": 1000, "min_bytes": 1, "max_bytes": 10**6, "max_records": 1, "batch_size": 1}
    asked |= {"share_acquire_mode": 1, "is_renew_ack": False}
    asked["topics"] = [{"topic_id": topic["topic_id"], "partitions": [part]}]
    topics = NODE.call("share_fetch", 2, asked)["responses"]
    every = [each for topic in topics for part in topic["partitions"] for each in part["acquired_records"]]
    return [n for each in every for n in range(each["first_offset"], each["last_offset"] + 1)]


producer, admin = (new({"bootstrap.servers": SERVERS, "linger.ms": 500}) for new in (Producer, AdminClient))
[producer.produce("orders", b"1", partition=0) for _ in range(5)] and producer.flush()
of_group = {"resource_type": 32, "resource_name": "billing", "configs": [RESET]}
NODE.call("incremental_alter_configs", 1, {"resources": [of_group], "validate_only": False})
NODE.call("find_coordinator", 3, {"key": "billing", "key_type": 0})
while not (got := fetch(0)):
    NODE.call("share_group_heartbeat", 1, JOIN)
print("acquired:", got)
[producer.produce("orders", b"2", partition=0) for _ in range(6)] and producer.flush()
[each.result() for each in admin.delete_records([TopicPartition("orders", 0, 9)]).values()]
print("acquired after 0 to 8 are deleted:", [fetch(1), fetch(2), fetch(3, (0, 5)), fetch(4), fetch(5)])
