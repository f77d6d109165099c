"""One of five records of a batch is not JSON; an application that reads JSON seeks past it."""

import json
import os

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
ORDERS = TopicPartition("orders", 0)

producer = KafkaProducer(bootstrap_servers=SERVERS, linger_ms=500)
for value in (b"0", b"not json", b"2", b"3", b"4"):
    producer.send("orders", value, partition=0)
producer.flush()

consumer = KafkaConsumer(
    bootstrap_servers=SERVERS, auto_offset_reset="earliest", value_deserializer=json.loads
)
consumer.assign([ORDERS])
while (at := consumer.position(ORDERS)) < 5:
    try:
        found = consumer.poll(timeout_ms=1_000)
        print("read", [each.value for records in found.values() for each in records])
    except json.JSONDecodeError as error:
        at = consumer.position(ORDERS)
        print(f"at {at}: {type(error).__name__}")
        consumer.seek(ORDERS, at + 1)
producer.close()
consumer.close()
