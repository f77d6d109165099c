"""A follower hangs, so that a record of an idempotent producer is given up with the next one under way."""

import os
import subprocess

from confluent_kafka import Consumer, Producer, TopicPartition

SERVERS = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "log_level": 0}
times = {"enable.idempotence": True, "request.timeout.ms": 500, "message.timeout.ms": 6000}
producer, told = Producer({**SERVERS, **times}), {}
partitions = producer.list_topics("orders", 30).topics["orders"].partitions.values()
partition = next(each.id for each in partitions if each.leader != 3)


def send(value):
    def tell(error, _):
        told[value] = error.name() if error else "written"

    producer.produce("orders", value, partition=partition, on_delivery=tell)


send("0")
producer.flush(30)
subprocess.Popen(os.environ["LEAVE"], shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while producer.flush(5) == 0:
    send(late := f"{len(told)}")
send("next")
while late not in told:
    producer.poll(0.1)
producer.flush(1)
subprocess.run(os.environ["COME_BACK"], shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
producer.flush(30)

reader, at = Consumer({**SERVERS, "group.id": "reader"}), TopicPartition("orders", partition)
at.offset = max(0, reader.get_watermark_offsets(at, 30)[1] - 9)
reader.assign([at])
found = [each.value().decode() for each in reader.consume(9, 9)]
for name, value in (("the record", late), ("the next one", "next")):
    print(f"{name}: told {told[value]}; {found.count(value)} times in the log")
