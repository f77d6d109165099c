"""A transaction with a record that is too large is aborted; the next one is committed, and read."""

import os

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import MessageSizeTooLargeError

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
TOPICS = ("orders", "payments")

# Records are sent by commit_transaction, as they often are without linger_ms too.
producer = KafkaProducer(bootstrap_servers=SERVERS, transactional_id="billing", linger_ms=1_000)
producer.init_transactions()


def transact(value):
    producer.begin_transaction()
    sent = [producer.send(topic, value) for topic in TOPICS]
    producer.commit_transaction()
    told = ["written" if each.succeeded() else type(each.exception).__name__ for each in sent]
    print("committed; orders:", told[0], "payments:", told[1])


transact(b"1")
producer.begin_transaction()
try:
    producer.send("orders", b"large" * 1000).get(30)
except MessageSizeTooLargeError:
    producer.abort_transaction()
    print("aborted")
transact(b"3")
producer.close(timeout=2)
consumer = KafkaConsumer(bootstrap_servers=SERVERS, isolation_level="read_committed")
consumer.assign([TopicPartition(topic, 0) for topic in TOPICS])
consumer.seek_to_beginning()
read = [each for _ in range(3) for records in consumer.poll(2_000).values() for each in records]
print("read:", *sorted(f"{each.topic} {each.value.decode()}" for each in read))
consumer.close()
