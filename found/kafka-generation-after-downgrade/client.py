"""The only member of the consumer protocol leaves before one of the classic protocol has joined again."""

import os
import time
import uuid

from mockbroker.rig.client import Client
from mockbroker.rig.migration_scene import assignment, subscription

HOST, PORT = os.environ["BOOTSTRAP_SERVERS"].split(":")
GROUP = {"group_id": "billing"}
client = Client(HOST, int(PORT))
client.call("find_coordinator", 3, {"key": "billing", "key_type": 0})
while client.call("describe_groups", 0, {"groups": ["billing"]})["groups"][0]["error_code"] != "NONE":
    time.sleep(0.1)
NEW = {**GROUP, "member_id": str(uuid.uuid4())}


def consumer_joins():
    subscribed = {"subscribed_topic_names": ["orders"], "topic_partitions": [], "rebalance_timeout": 30_000}
    answer = client.call("consumer_group_heartbeat", 0, {**NEW, **subscribed})
    print("a member of the consumer protocol joins:", answer["error_code"])


protocol = {"name": "range", "metadata": subscription(["orders"], {})}
asked = {**GROUP, "session_timeout": 30_000, "rebalance_timeout": 30_000, "protocol_type": "consumer"}
joined = client.call("join_group", 3, {**asked, "member_id": "", "protocols": [protocol]})
classic = {**GROUP, "member_id": joined["member_id"], "generation_id": joined["generation_id"]}
given = {"member_id": classic["member_id"], "assignment": assignment({"orders": [0, 1, 2, 3]})}
client.call("sync_group", 3, {**classic, "assignments": [given]})
consumer_joins()
print("heartbeat of the classic member:", client.call("heartbeat", 3, classic)["error_code"])
client.call("consumer_group_heartbeat", 0, {**NEW, "member_epoch": -1, "rebalance_timeout": -1})
print("the consumer leaves")
print("heartbeat of the classic member:", client.call("heartbeat", 3, classic)["error_code"])
