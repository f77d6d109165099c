"""An admin client asks for the offsets of a group, and once more when its coordinator has moved."""

import os
import signal
import subprocess
import sys

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

servers = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "log_level": 0}


def ask():
    consumer, admin = Consumer({**servers, "group.id": "billing"}), AdminClient(servers)
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    consumer.close()
    for moved in (False, True):
        if moved:
            subprocess.run(os.environ["MOVE_COORDINATOR"], shell=True, check=True, stdout=subprocess.DEVNULL)
            print("the coordinator has moved", flush=True)
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("billing")])
        try:
            print("committed:", [each.offset for each in asked["billing"].result(30).topic_partitions])
        except KafkaException as error:
            print("not known:", error.args[0].name())


if sys.argv[1:]:
    ask()
else:
    asks = [sys.executable, "-u", __file__, "ask"]
    status = subprocess.run(asks, stderr=subprocess.DEVNULL).returncode
    print(f"its process ends by {signal.Signals(-status).name if status < 0 else f'status {status}'}")
