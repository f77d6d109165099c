"""A member has acquired 20 records and accepts five; the leader moves, and the first five are deleted."""

import os

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker.rig.client import Client

SERVERS, GROUP = os.environ["BOOTSTRAP_SERVERS"], {"group_id": "billing"}
NODES = [Client(*each.split(":")) for each in SERVERS.split(",")]
FIND = "find_coordinator", 3, {"key": "billing", "key_type": 0}
JOIN = {**GROUP, "member_id": "first", "member_epoch": 0, "subscribed_topic_names": ["orders"]}


def fetch(member, session, accept=()):
    topic = NODES[0].call("metadata", 12, {"topics": [{"name": "orders"}]})["topics"][0]
    said = [{"first_offset": each, "last_offset": each, "acknowledge_types": [1]} for each in accept]
    part = {"partition_index": 0, "acknowledgement_batches": said}
    asked = {**GROUP, "member_id": member, "share_session_epoch": session, "forgotten_topics_data": []}
    asked |= {"max_wait": 1000, "min_bytes": 1, "max_bytes": 10**6, "max_records": 500, "batch_size": 500}
    asked["topics"] = [{"topic_id": topic["topic_id"], "partitions": [part]}]
    found = NODES[topic["partitions"][0]["leader_id"] - 1].call("share_fetch", 1, asked)["responses"]
    every = [each for topic in found for part in topic["partitions"] for each in part["acquired_records"]]
    return [n for each in every for n in range(each["first_offset"], each["last_offset"] + 1)]


producer, admin = (made({"bootstrap.servers": SERVERS}) for made in (Producer, AdminClient))
[producer.produce("orders", b"1", partition=0) for _ in range(20)] and producer.flush()
reset = {"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}
of_group = {"resource_type": 32, "resource_name": "billing", "configs": [reset]}
NODES[0].call("incremental_alter_configs", 1, {"resources": [of_group], "validate_only": False})
while not (got := fetch("first", 0)):
    [node.call(*asked) for node in NODES for asked in (FIND, ("share_group_heartbeat", 1, JOIN))]
print("acquired:", got)
fetch("first", 1, accept=range(10, 15))
os.system(os.environ["MOVE_LEADER"] + " > /dev/null")
[each.result() for each in admin.delete_records([TopicPartition("orders", 0, 5)]).values()]
print("acquired from the new leader:", [fetch("second", session) for session in range(5)])
