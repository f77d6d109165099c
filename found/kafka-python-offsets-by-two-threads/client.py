"""Two threads send the offsets of two partitions in one transaction."""

import os
import threading

from kafka import KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

producer = KafkaProducer(bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"], transactional_id="billing")
LIMIT_S = 8


def send_offsets(partition):
    offsets = {TopicPartition("orders", partition): OffsetAndMetadata(1, "", -1)}
    producer.send_offsets_to_transaction(offsets, "billing")


producer.init_transactions()
producer.begin_transaction()
threads = [threading.Thread(target=send_offsets, args=(each,), daemon=True) for each in (0, 1)]
for each in threads:
    each.start()
threads[0].join(LIMIT_S)
threads[1].join(1)
print("calls that have not returned:", sum(each.is_alive() for each in threads), flush=True)
os._exit(0)
