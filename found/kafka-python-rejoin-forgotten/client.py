"""One of two members of a group subscribes to another topic; each polls in a thread of its own."""

import os
import threading
import time

from kafka import KafkaConsumer

LIMIT_S = 15
poll_ms = 2_000
members, subscribing = {}, threading.Event()


def consume(name, *topics):
    consumer = KafkaConsumer(
        *topics, bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"], group_id="billing", client_id=name
    )
    members[name] = consumer
    while True:
        consumer.poll(timeout_ms=poll_ms)
        if name == "second" and subscribing.is_set():
            subscribing.clear()
            consumer.subscribe(["orders", "payments"])


threading.Thread(target=consume, args=["first", "orders", "payments"], daemon=True).start()
threading.Thread(target=consume, args=["second", "orders"], daemon=True).start()
while len(members) < 2 or sorted(len(each.assignment()) for each in members.values()) != [1, 3]:
    time.sleep(0.1)
poll_ms = 100
time.sleep(3)
subscribing.set()
time.sleep(LIMIT_S)
topics = sorted({each.topic for each in members["second"].assignment()})
print(f"{LIMIT_S} s later the second has partitions of {topics}", flush=True)
os._exit(0)
