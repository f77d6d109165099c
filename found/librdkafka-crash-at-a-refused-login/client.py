"""A connection is lost while a consumer asks for committed offsets, and its next login is refused."""

import os
import signal
import subprocess
import sys

from confluent_kafka import Consumer, TopicPartition


def consume():
    consumer = Consumer(
        {
            "bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"],
            "group.id": "billing",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "alice",
            "sasl.password": "secret",
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition("orders", 0)])
    for _ in range(50):
        consumer.poll(0.1)


if sys.argv[1:]:
    consume()
else:
    status = subprocess.run([sys.executable, __file__, "consume"]).returncode
    ended = signal.Signals(-status).name if status < 0 else f"status {status}"
    print(f"the consumer's process ends by {ended}")
