"""The leader of a classic group has assigned a partition that its topic does not have any more."""

import os
import time
import uuid

from mockbroker.rig.client import Client
from mockbroker.rig.migration_scene import assignment, subscription

HOST, PORT = os.environ["BOOTSTRAP_SERVERS"].split(":")
client = Client(HOST, int(PORT))
client.call("find_coordinator", 3, {"key": "billing", "key_type": 0})
while client.call("describe_groups", 0, {"groups": ["billing"]})["groups"][0]["error_code"] != "NONE":
    time.sleep(0.1)


def consumer_joins(group, assignor):
    member = {"member_id": str(uuid.uuid4()), "subscribed_topic_names": ["orders"], "topic_partitions": []}
    fields = {"group_id": group, **member, "rebalance_timeout": 30_000, "server_assignor": assignor}
    answer = client.call("consumer_group_heartbeat", 0, fields)
    print(f"a member of the consumer protocol with {assignor} joins:", answer["error_code"])


for group, assignor in (("billing", "uniform"), ("shipping", "range")):
    protocol = {"name": "range", "metadata": subscription(["orders"], {})}
    times = {"session_timeout": 30_000, "rebalance_timeout": 30_000}
    asked = {**times, "member_id": "", "protocol_type": "consumer", "protocols": [protocol]}
    joined = client.call("join_group", 3, {"group_id": group, **asked})
    member = {key: joined[key] for key in ("member_id", "generation_id")}
    given = {"member_id": member["member_id"], "assignment": assignment({"orders": [0, 1, 2]})}
    client.call("sync_group", 3, {"group_id": group, **member, "assignments": [given]})
    consumer_joins(group, assignor)
