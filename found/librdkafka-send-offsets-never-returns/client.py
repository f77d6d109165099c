"""The broker that coordinates a group does not answer any more, and a transaction is to commit its offset."""

import os
import subprocess
from threading import Thread

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

SERVERS = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"]}
GOES, TIMEOUT_S, LIMIT_S = 3, 5, 30


def coordinator(group):
    admin = AdminClient({"bootstrap.servers": SERVERS["bootstrap.servers"].rpartition(",")[0]})
    return admin.describe_consumer_groups([group])[group].result().coordinator.id


def send_offset(offset):
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition("orders", 0, offset)], of_group, TIMEOUT_S)


another = Consumer({**SERVERS, "group.id": "another"})
another.subscribe(["orders"])
another.poll(10)  # until brokers coordinate groups
group = next(name for name in map("billing-{}".format, range(20)) if coordinator(name) == GOES)
of_group = Consumer({**SERVERS, "group.id": group}).consumer_group_metadata()
producer = Producer({**SERVERS, "transactional.id": "billing"})
producer.init_transactions(30)
send_offset(1)
producer.commit_transaction(30)
subprocess.run(os.environ["LEAVE"], shell=True, check=True, stdout=subprocess.DEVNULL)
(call := Thread(target=send_offset, args=(2,), daemon=True)).start()
call.join(LIMIT_S)
print("another broker coordinates the group:", coordinator(group) != GOES)
print(f"its timeout is {TIMEOUT_S} s; after {LIMIT_S} s it has returned:", not call.is_alive(), flush=True)
os._exit(0)
