"""A topic whose leader has changed once is deleted and created again; its consumer goes on."""

import os
import subprocess
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVERS = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"]}
READING = {"group.id": "billing", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
LIMIT_S = 15


def read(consumer, name):
    if not consumer.assignment():
        consumer.assign([TopicPartition("orders", 0)])
    read = [each.value().decode() for each in consumer.consume(3, LIMIT_S) if not each.error()]
    print(f"{name}:", read, flush=True)


def write(*values):
    producer = Producer(SERVERS)
    for value in values:
        producer.produce("orders", value)
    producer.flush()


admin, consumer = AdminClient(SERVERS), Consumer({**SERVERS, **READING})
subprocess.run(os.environ["MOVE_LEADER"], shell=True, check=True, stdout=subprocess.DEVNULL)
write("1", "2", "3")
read(consumer, "the consumer reads")
admin.delete_topics(["orders"])["orders"].result()
time.sleep(1)
admin.create_topics([NewTopic("orders", 1, 2)])["orders"].result()
write("new 1", "new 2", "new 3", "new 4", "new 5")
read(consumer, "it reads of the new topic")
read(Consumer({**SERVERS, **READING}), "another consumer reads")
