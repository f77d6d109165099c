"""A topic is deleted, and created again after a record to it has expired."""

import os

from kafka import KafkaAdminClient, KafkaProducer

servers = os.environ["BOOTSTRAP_SERVERS"]
admin = KafkaAdminClient(bootstrap_servers=servers)


def new_producer():
    return KafkaProducer(bootstrap_servers=servers, delivery_timeout_ms=2000, request_timeout_ms=1000)


def send(when, producer):
    try:
        print(f"{when}: at offset {producer.send('orders', b'1').get(5).offset}")
    except Exception as error:
        print(f"{when}: {'the record expires' if 'Expiring' in str(error) else 'nothing in 5 s'}")


producer = new_producer()
send("there is a topic", producer)
admin.delete_topics(["orders"])
send("it is deleted", producer)
admin.create_topics({"orders": {"num_partitions": 1, "replication_factor": 1}})
send("it is created again, another producer", new_producer())
send("it is created again", producer)
os._exit(0)
