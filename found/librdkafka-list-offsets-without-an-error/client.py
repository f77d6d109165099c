"""Brokers answer a ListOffsets later than the request may take."""

import os
import subprocess

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

servers = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"]}
producer, admin = Producer(servers), AdminClient(servers)
for value in ("first", "second"):
    producer.produce("orders", value)
producer.flush(30)


def end() -> str:
    """Where the partition ends, as the client says."""
    asked = TopicPartition("orders", 0)
    listed = admin.list_offsets({asked: OffsetSpec.latest()}, request_timeout=1)
    try:
        return f"ends at {listed[asked].result(30).offset}"
    except Exception as error:
        return f"is not known: {error}"


print("the partition", end())
subprocess.run(os.environ["STAND_STILL"], shell=True, check=True, stdout=subprocess.DEVNULL)
print("the partition", end())
