"""A member of the consumer protocol joins while a classic group waits for its first generation."""

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


protocols = [{"name": "range", "metadata": subscription(["orders"], {})}]
times = {"session_timeout": 30_000, "rebalance_timeout": 30_000}
asked = {**GROUP, **times, "protocol_type": "consumer", "protocols": protocols}
member, classic = {"member_id": "", "generation_id": -1}, Client(HOST, int(PORT))
for joining in ("beside", "after"):
    waiting = classic.send("join_group", 3, {**asked, "member_id": member["member_id"]})
    time.sleep(0.5)
    if joining == "beside":
        consumer_joins()
    joined = classic.receive(waiting)
    member = {key: joined[key] for key in member}
    print("a member of the classic protocol joins:", joined["error_code"])
given = {"member_id": member["member_id"], "assignment": assignment({"orders": [0, 1, 2, 3]})}
classic.call("sync_group", 3, {**GROUP, **member, "assignments": [given]})
consumer_joins()
