"""A consumer whose application does nothing but poll."""

import threading

from confluent_kafka import Consumer

from mockbroker import MockCluster


class PollingConsumer:
    """A member of a group that reads `orders` in a thread of its own."""

    def __init__(self, cluster: MockCluster, group: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group})
        self._consumer.subscribe(["orders"])
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll)
        self._thread.start()

    def _poll(self) -> None:
        while not self._over.is_set():
            self._consumer.poll(0.05)
        self._consumer.close()

    def leave(self) -> None:
        self._over.set()
        self._thread.join()
