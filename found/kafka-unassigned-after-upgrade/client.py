"""A group is on its way to the consumer protocol, and its only member that has it leaves again."""

import os
import time

from mockbroker.rig.client import Client
from mockbroker.rig.migration_scene import assignment, read_assignment, subscription

HOST, PORT = os.environ["BOOTSTRAP_SERVERS"].split(":")
GROUP, LIMIT_S = {"group_id": "billing"}, 6
client = Client(HOST, int(PORT))
client.call("find_coordinator", 3, {"key": "billing", "key_type": 0})
while client.call("describe_groups", 0, {"groups": ["billing"]})["groups"][0]["error_code"] != "NONE":
    time.sleep(0.1)
asked = {**GROUP, "session_timeout": 30_000, "rebalance_timeout": 30_000, "protocol_type": "consumer"}


def join(owned, member_id):
    protocol = {"name": "range", "metadata": subscription(["orders"], {"orders": owned})}
    joined = client.call("join_group", 3, {**asked, "member_id": member_id, "protocols": [protocol]})
    generation = {key: joined[key] for key in ("generation_id", "member_id")}
    given = {"member_id": joined["member_id"], "assignment": assignment({"orders": [0, 1, 2, 3]})}
    synced = client.call("sync_group", 3, {**GROUP, **generation, "assignments": [given]})
    return generation, read_assignment(synced["assignment"])["topics"][0]["partitions"]


generation, owned = join([], "")
for event in ("a member of the consumer protocol joins", "it leaves"):
    epoch = 0 if event.endswith("joins") else -1
    new = {"member_id": "new", "member_epoch": epoch, "topic_partitions": [] if epoch == 0 else None}
    subscribed = {"rebalance_timeout": 30_000, "subscribed_topic_names": ["orders"]}
    client.call("consumer_group_heartbeat", 0, {**GROUP, **new, **subscribed})
    end_s = time.monotonic() + LIMIT_S
    while time.monotonic() < end_s:
        if client.call("heartbeat", 3, {**GROUP, **generation})["error_code"] != "NONE":
            generation, owned = join(owned, generation["member_id"])
        time.sleep(0.1)
    print(f"{event}; {LIMIT_S} s later the classic member has {len(owned)} of 4 partitions")
