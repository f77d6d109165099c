"""A transactional producer is fenced while it has records to send."""

import os

from confluent_kafka import KafkaException, Producer

CONFIG = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "transactional.id": "billing"}


def told(error, message):
    print("told of", message.value().decode(), error.name() if error else "written")


producer = Producer(CONFIG)
producer.init_transactions()
producer.begin_transaction()
producer.produce("orders", "record 0", on_delivery=told)
producer.flush()

another = Producer(CONFIG)
another.init_transactions()
for number in range(1, 5):
    producer.produce("orders", f"record {number}", on_delivery=told)
while len(producer):
    try:
        producer.flush(10)
    except (KafkaException, SystemError) as error:
        print("flush raised", type(error).__name__)
