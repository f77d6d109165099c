"""Mock brokers in memory to which stories do what they do to real ones."""

from collections.abc import Callable, Sequence
from typing import Any

from mockbroker.rig import sasl_listener
from mockbroker.rig.client import Client
from mockbroker.rig.stories import Setting
from mockbroker.sasl.client import Logins
from mockbroker.sasl.jwks import Keys

from .cluster import configured
from .network import InMemoryNetwork

LIMIT_S = 300
_SETTLED_S = 0.1
_CHECKPOINT_S = 1.0


class InMemoryBrokers:
    """A `rig.brokers.Brokers` of a release with its patch number. Time goes by only while a story waits."""

    def __init__(self, release: str, setting: Setting) -> None:
        self.release = release
        self.zookeeper = int(release.split(".")[0]) < 3
        config = {**setting.config, **(sasl_listener.sessions() if setting.sasl else {})}
        short = ".".join(release.split(".")[:2])
        self.cluster = configured(short, setting.brokers, None, config, setting.racks)
        keys = None if setting.jwks is None else Keys.of(setting.jwks())
        logins = Logins(sasl_listener.MECHANISMS, sasl_listener.USERS, keys) if setting.sasl else None
        self.network = InMemoryNetwork(self.cluster, logins)

    @property
    def nodes(self) -> Sequence[int]:
        return list(self.cluster.brokers)

    def client(self, broker: int, client_id: str = "conformance", *, sasl: bool = False) -> Client:
        found = self.cluster.brokers[broker].told_at(sasl_listener.NAME if sasl else "")
        return Client(found.host, found.port, client_id, network=self.network)

    def stop_broker(self, broker: int) -> None:
        self.cluster.processes.stop(broker)

    def kill_broker(self, broker: int) -> None:
        self.cluster.processes.kill(broker)

    def start_broker(self, broker: int) -> None:
        self.cluster.processes.start(broker)

    def hold(self, broker: int) -> None:
        """It stays alive for the controller."""
        self.cluster.network.cut_off(broker, list(self.cluster.brokers), from_controller=False)

    def let_go(self, broker: int) -> None:
        self.cluster.network.rejoin(broker)

    def settle(self, look: Callable[[int], Any], online: Sequence[int]) -> Any:
        """Brokers in memory agree without delay."""
        self.network.sleep(_SETTLED_S)
        first, *others = [look(broker) for broker in online]
        assert all(each == first for each in others), "brokers disagree"
        return first

    def checkpoint(self, broker: int) -> None:
        self.network.sleep(_CHECKPOINT_S)

    def until(self, done: Callable[[], bool], what: str) -> None:
        if not self.network.wait(done, LIMIT_S):
            raise TimeoutError(f"waited in vain for {what}")

    def sleep(self, seconds: float) -> None:
        self.network.sleep(seconds)

    def now_ms(self) -> int:
        return self.cluster.now_ms
