"""An application that copies records from `in` to `out`: exactly once, unless it is wrong as its first
argument says: `right`, `commits-first`, `repeats`, `dies`, `stops`, `stays`."""

import itertools
import os
import signal
import sys

from confluent_kafka import Consumer, Producer

WRONG = sys.argv[1]
TIMERS = {"retry.backoff.ms": 50, "socket.timeout.ms": 3_000}
SERVERS = {"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], **TIMERS}


def main() -> None:
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    consumer = Consumer(
        {
            **SERVERS,
            "group.id": "copies",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 300,
        }
    )
    producer = Producer({**SERVERS, "transactional.id": "copies"})
    producer.init_transactions()
    consumer.subscribe(["in"])
    numbers = itertools.count(1)
    while not ended or WRONG == "stays":
        message = consumer.poll(0.1)
        if message is None or message.error():
            continue
        number = next(numbers)
        if WRONG == "dies" and number > 8:
            sys.exit("too many records")
        if WRONG == "stops" and number > 4:
            continue
        producer.begin_transaction()
        if WRONG != "commits-first" or number % 3:
            producer.produce("out", message.value())
        if WRONG == "repeats" and number % 3 == 0:
            producer.produce("out", message.value())
        at = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(at, consumer.consumer_group_metadata())
        producer.commit_transaction()
    consumer.close()


main()
