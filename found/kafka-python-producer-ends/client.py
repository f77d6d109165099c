"""A record that is too large among others that are not; the producer has its default settings."""

import os

from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"])


def send(topic, value):
    try:
        producer.send(topic, value).get(30)
        print(f"{topic}, {len(value)} bytes: written")
    except Exception as error:
        print(f"{topic}, {len(value)} bytes: {type(error).__name__}")


send("orders", b"1")
send("payments", b"1")
send("orders", b"large" * 1000)
send("orders", b"2")
send("payments", b"2")
producer.close(timeout=2)
