"""A member leaves before its transaction ends. Another one then commits the offset of another partition."""

import os

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import CommitFailedError

SERVERS = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"]}
ORDERS = [TopicPartition("orders", partition) for partition in (0, 1)]


def member():
    consumer = KafkaConsumer("orders", group_id="g", enable_auto_commit=False, **SERVERS)
    while not consumer.assignment():
        consumer.poll(200)
    return consumer


def process(partition, offset, group):
    producer.begin_transaction()
    producer.send_offsets_to_transaction({partition: OffsetAndMetadata(offset, "", -1)}, group)
    producer.commit_transaction()


producer = KafkaProducer(transactional_id="t", **SERVERS)
producer.init_transactions()
first = member()
group = first.group_metadata()
first.close()
try:
    process(ORDERS[0], 5, group)
except CommitFailedError:
    producer.abort_transaction()
    print("partition 0: aborted")
second = member()
process(ORDERS[1], 7, second.group_metadata())
while second.committed(ORDERS[1]) is None:
    pass  # the marker of the transaction is written later
print("committed:", [second.committed(each) for each in ORDERS])
