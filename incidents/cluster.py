"""Brokers of a release and a controller of their own, whose files can be taken."""

import base64
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mockbroker.rig.downloads import RealBrokerError, broker_jars
from mockbroker.rig.real_broker import BETWEEN, CONTROLLER, RealCluster, free_ports

from .logging import FOLDER_PROPERTY, log4j, log4j2
from .proxy import Proxy, belongs

BROKERS: Final = (1, 2, 3)
CONFIG: Final = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "5000",
    "group.initial.rebalance.delay.ms": "500",
    "log.index.size.max.bytes": "102400",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "1000",
    "min.insync.replicas": "1",
    "offsets.topic.num.partitions": "3",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
    "replica.lag.time.max.ms": "4000",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
}
"""Times are shorter than Kafka's defaults, so that a recording takes a minute."""
_REPLICAS: Final = (
    "default.replication.factor",
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
)
_META: Final = "meta.properties"
_CLOCK: Final = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)


class RecordedCluster(RealCluster):
    """Brokers reach each other and the controller, or ZooKeeper, through proxies. With `stepped` that broker
    has a clock that can be set; with `login` there is a listener with SASL, too, without a proxy.
    RealBrokerError without Java or, for `stepped`, without Debian's `faketime`.
    """

    def __init__(
        self,
        release: str,
        config: Mapping[str, str] | None = None,
        *,
        brokers: int = len(BROKERS),
        stepped: int | None = None,
        login: bool = False,
    ) -> None:
        replicas = dict.fromkeys(_REPLICAS, str(brokers))
        super().__init__(release, brokers, {**CONFIG, **replicas, **(config or {})}, apart=True, sasl=login)
        for name, text in (("log4j.properties", log4j()), ("log4j2.xml", log4j2())):
            (self.folder / name).write_text(text)
        self._stepped = stepped
        self._upgraded: dict[int, Path] = {}
        self._clock = _faketime() if stepped is not None else ""
        others = {port for node in self.ports for port in self._more.of(node).values()}
        taken = {self._controller_port, *self.ports.values(), *others}
        spare = [port for port in free_ports(brokers + len(taken)) if port not in taken]
        self._own_ports = dict(zip(self.ports, spare, strict=False))
        self.clients = {node: Proxy(port) for node, port in self.ports.items()}
        """Where clients reach the brokers."""
        self._off: int | None = None
        self._replication = {node: Proxy(port, self._is_off) for node, port in self._own_ports.items()}
        self._quorum = Proxy(self._controller_port, self._is_off)
        if stepped is not None:
            self.step_clock(0)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{proxy.port}" for proxy in self.clients.values())

    def stop(self) -> None:
        super().stop()
        for proxy in (*self.clients.values(), *self._replication.values(), self._quorum):
            proxy.close()

    def cut_off(self, node: int) -> None:
        """From the controller and from all brokers. Clients still reach it."""
        self._off = node
        self._replication[node].cut()
        for each in (self._quorum, *self._replication.values()):
            each.drop()

    def wall_off(self, node: int) -> None:
        """Other brokers do not reach it any more. It reaches them, and the controller."""
        self._replication[node].cut()

    def reconnect(self, node: int) -> None:
        self._off = None
        self._replication[node].mend()

    def start_controller(self) -> None:
        """One that is down. It takes a while until brokers hear of it."""
        self._launch(CONTROLLER)

    def upgrade(self, node: int, release: str) -> None:
        """From the next start on. RealBrokerError."""
        self._upgraded[node] = broker_jars(release)

    def add_disk(self, node: int) -> Path:
        """From the next start on it keeps new partitions there too."""
        disk, file = self.second_disk(node), self._properties_file(node)
        disk.mkdir()
        formatted = (self.data(node) / _META).read_text()
        own = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        (disk / _META).write_text(re.sub(r"(?<=directory.id=).*", f"D{own[1:]}", formatted))
        first = f"log.dirs={self.data(node)}\n"
        file.write_text(file.read_text().replace(first, f"{first.strip()},{disk}\n"))
        return disk

    def second_disk(self, node: int) -> Path:
        return self.folder / f"second{node}"

    def advertise(self, node: int, host: str) -> None:
        """To clients, from the next start on."""
        file, port = self._properties_file(node), self.clients[node].port
        told = f"PLAINTEXT://127.0.0.1:{port}"
        if told not in file.read_text():
            raise RealBrokerError(f"broker {node} does not advertise {told}")
        file.write_text(file.read_text().replace(told, f"PLAINTEXT://{host}:{port}"))

    def add_broker(self) -> int:
        """Starts one more, and returns its node id. RealBrokerError."""
        node = max(self.ports) + 1
        self.ports[node], self._own_ports[node] = free_ports(2)
        self.clients[node] = Proxy(self.ports[node])
        self._replication[node] = Proxy(self._own_ports[node], self._is_off)
        self._format(node)
        self.start_broker(node)
        return node

    def runs(self, node: int) -> bool:
        return self._processes[node].poll() is None

    def _is_off(self, port: int) -> bool:
        return self._off is not None and belongs(port, self._processes[self._off].pid)

    def step_clock(self, seconds: int) -> None:
        """The clock of the broker `stepped` is that far ahead of this machine's, a second from now."""
        (self.folder / "clock").write_text(f"{seconds:+d}\n")

    def logs(self, node: int) -> Path:
        return self.folder / f"logs{node}"

    def log(self, node: int) -> str:
        """Its server.log."""
        try:
            return (self.logs(node) / "server.log").read_text(errors="replace")
        except FileNotFoundError:
            return ""

    # -- how nodes are set up

    @property
    def _quorum_port(self) -> int:
        return self._quorum.port

    def _listeners(self, node: int) -> dict[str, tuple[int, int]]:
        if node == CONTROLLER:
            return {"CONTROLLER": (self._controller_port, self._quorum.port)}
        return {
            "PLAINTEXT": (self.ports[node], self.clients[node].port),
            **{name: (port, port) for name, port in self._more.of(node).items()},
            BETWEEN: (self._own_ports[node], self._replication[node].port),
        }

    def _output(self, node: int) -> Path:
        return self.logs(node) / "kafkaServer.out"

    def _options(self, node: int) -> Sequence[str]:
        return (f"-D{FOLDER_PROPERTY}={self.logs(node)}", "-Duser.timezone=UTC")

    def _jars_of(self, node: int) -> Path:
        return self._upgraded.get(node) or super()._jars_of(node)

    def _environment(self, node: int) -> Mapping[str, str]:
        if node != self._stepped:
            return {}
        return {
            "LD_PRELOAD": self._clock,
            "FAKETIME_TIMESTAMP_FILE": str(self.folder / "clock"),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


def _faketime() -> str:
    found = next((each for each in _CLOCK if Path(each).exists()), None)
    if found is None:
        raise RealBrokerError("a clock that can be set needs Debian's package faketime")
    return found
