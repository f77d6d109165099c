"""A member gives up its first heartbeat and joins again; the broker handles the first one afterwards."""

import os

from mockbroker.rig.client import Client

SERVER = os.environ["BOOTSTRAP_SERVERS"].split(":")
GIVEN_UP, USED = Client(*SERVER), Client(*SERVER)
FIND = "find_coordinator", 3, {"key": "billing", "key_type": 0}
MEMBER = {"group_id": "billing", "member_id": "first"}
JOIN = {**MEMBER, "member_epoch": 0, "subscribed_topic_names": ["orders"]}


def beat(client, fields):
    """The answer's error, its epoch, and its partitions, None if it does not speak of any."""
    answer = client.call("share_group_heartbeat", 1, fields)
    given = answer["assignment"]
    found = None if given is None else [n for each in given["topic_partitions"] for n in each["partitions"]]
    return answer["error_code"], answer["member_epoch"], found


while (joined := beat(USED, JOIN))[0] != "NONE":
    USED.call(*FIND)
epoch = joined[1]
print("joined:", joined[2])
while not (late := beat(GIVEN_UP, JOIN))[2]:
    pass
print("the answer that is not heard of:", late[2])
for _ in range(5):
    error, epoch, found = beat(USED, {**MEMBER, "member_epoch": epoch})
    print("heartbeat:", error, found)
