"""librdkafka's mock cluster in a process of its own; writes its bootstrap address, then waits to be ended."""

from __future__ import annotations

import sys
import threading

from confluent_kafka import Producer


def main() -> None:
    # Without an address of its own the client takes the mock cluster's; it lives as long as the client.
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = owner.list_topics(timeout=10).brokers.values()
    sys.stdout.write(f"{broker.host}:{broker.port}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
