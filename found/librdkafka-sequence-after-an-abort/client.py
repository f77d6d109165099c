"""A transaction with a record that is too large is aborted. Then another one is committed."""

import os

from confluent_kafka import KafkaException, Producer

producer = Producer(
    {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "transactional.id": "t", "linger.ms": 0}
)
producer.init_transactions(30)


def transaction(*values):
    producer.begin_transaction()
    for value in values:
        producer.produce("orders", value, partition=0)
        producer.flush(30)
    try:
        producer.commit_transaction(30)
        print("committed")
    except KafkaException as error:
        print(error.args[0].name())
        producer.abort_transaction(30)


transaction(b"1", b"large" * 1000)
for _ in range(3):
    transaction(b"2")
