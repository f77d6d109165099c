"""A mock cluster that listens, to which stories do what they do to real brokers."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from mockbroker import MockCluster
from mockbroker.rig import sasl_listener
from mockbroker.rig.client import Client

from .until import until

PLAIN: Final = "PLAINTEXT"
"""The listener of whoever has not to log in."""


class Served:
    """A `rig.brokers.Brokers` of one broker, which runs already."""

    def __init__(self, release: str, cluster: MockCluster) -> None:
        self.release, self._cluster = release, cluster
        self.zookeeper = False

    @property
    def nodes(self) -> Sequence[int]:
        return [1]

    def address(self, listener: str) -> tuple[str, int]:
        settings = self._cluster.client_settings("confluent-kafka", listener=listener)
        host, _, port = str(settings["bootstrap.servers"]).rpartition(":")
        return host, int(port)

    def client(self, broker: int, client_id: str = "conformance", *, sasl: bool = False) -> Client:
        return Client(*self.address(sasl_listener.NAME if sasl else PLAIN), client_id)

    def stop_broker(self, broker: int) -> None:
        self._cluster.stop_broker(broker)

    def kill_broker(self, broker: int) -> None:
        self._cluster.kill_broker(broker)

    def start_broker(self, broker: int) -> None:
        self._cluster.start_broker(broker)

    def hold(self, broker: int) -> None:
        raise NotImplementedError

    def let_go(self, broker: int) -> None:
        raise NotImplementedError

    def checkpoint(self, broker: int) -> None:
        raise NotImplementedError

    def settle(self, look: Callable[[int], Any], online: Sequence[int]) -> Any:
        return look(1)

    def until(self, done: Callable[[], bool], what: str) -> None:
        until(done, what)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
