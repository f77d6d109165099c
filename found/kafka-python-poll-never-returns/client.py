"""One record that is not JSON, read with a deserializer for JSON."""

import json
import os
import threading
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

SERVERS = os.environ["BOOTSTRAP_SERVERS"]
LIMIT_S = 5

producer = KafkaProducer(bootstrap_servers=SERVERS)
for value in (b"1", b"not json", b"3"):
    producer.send("orders", value).get(30)
producer.close()
consumer = KafkaConsumer(
    bootstrap_servers=SERVERS, auto_offset_reset="earliest", value_deserializer=json.loads
)
consumer.assign([TopicPartition("orders", 0)])


def poll(timeout_ms):
    try:
        print("read", [each.value for records in consumer.poll(timeout_ms).values() for each in records])
    except Exception as error:
        print("poll raised", type(error).__name__)


poll(10_000)
poll(10_000)
cpu_s = time.process_time()
thread = threading.Thread(target=poll, args=[100])
thread.start()
thread.join(LIMIT_S)
if thread.is_alive():
    busy = time.process_time() - cpu_s > LIMIT_S / 10
    print(f"poll(timeout_ms=100) has not returned after {LIMIT_S} s;", "busy" if busy else "idle", flush=True)
os._exit(0)
