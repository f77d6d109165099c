"""A transaction with a record that is too large, and another behind it in the same batch."""

import os
import threading

from kafka import KafkaProducer

LIMIT_S = 15

producer = KafkaProducer(
    bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"], transactional_id="billing", linger_ms=100
)
producer.init_transactions()
producer.begin_transaction()
sent = [producer.send("orders", value, partition=0) for value in (b"large" * 1000, b"2")]


def commit():
    try:
        producer.commit_transaction()
        print("commit_transaction returned")
    except Exception as error:
        print("commit_transaction raised", type(error).__name__)


thread = threading.Thread(target=commit)
thread.start()
thread.join(LIMIT_S)
print("records:", *[type(each.exception).__name__ if each.is_done else "unknown" for each in sent])
if thread.is_alive():
    print(f"commit_transaction has not returned after {LIMIT_S} s", flush=True)
os._exit(0)
