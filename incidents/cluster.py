"""Three brokers of a release and a controller of their own, whose files can be taken."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mockbroker.rig.real_broker import RealBrokerError, RealCluster, free_ports

from .logging import FOLDER_PROPERTY, log4j, log4j2
from .proxy import Proxy, belongs

CONTROLLER: Final = 100
BROKERS: Final = (1, 2, 3)
CONFIG: Final = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "5000",
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "500",
    "log.index.size.max.bytes": "102400",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "1000",
    "min.insync.replicas": "1",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
    "replica.lag.time.max.ms": "4000",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
}
"""Times are shorter than Kafka's defaults, so that a recording takes a minute."""
_LISTENERS: Final = ("PLAINTEXT", "REPLICATION", "CONTROLLER")
_ZOOKEEPER: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_KRAFT: Final = ("node", "process", "controller")
"""How settings begin that brokers with ZooKeeper don't have."""
_CLOCK: Final = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)


class RecordedCluster(RealCluster):
    """Brokers reach each other and the controller through proxies; up to 2.8 ZooKeeper is in its place. With
    `stepped` that broker has a clock
    that can be set. RealBrokerError without Java or, for `stepped`, without Debian's `faketime`.
    """

    def __init__(
        self, release: str, config: Mapping[str, str] | None = None, *, stepped: int | None = None
    ) -> None:
        super().__init__(release, len(BROKERS), {**CONFIG, **(config or {})})
        self.folder = self._folder
        for name, text in (("log4j.properties", log4j()), ("log4j2.xml", log4j2())):
            (self.folder / name).write_text(text)
        self._zookeeper = release.startswith("2.")
        self._stepped = stepped
        self._clock = _faketime() if stepped is not None else ""
        taken = {self._controller_port, *self.ports.values()}
        spare = [port for port in free_ports(len(BROKERS) + len(taken)) if port not in taken]
        self._own_ports = dict(zip(BROKERS, spare, strict=False))
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

    def start(self) -> None:
        for node in (CONTROLLER, *BROKERS):
            self._format(node)
            self._launch(node)
        for node in BROKERS:
            self._await(node)

    def stop(self) -> None:
        super().stop()
        for proxy in (*self.clients.values(), *self._replication.values(), self._quorum):
            proxy.close()

    def kill(self, node: int) -> None:
        self._processes[node].kill()
        self._processes[node].wait()

    def freeze(self, node: int) -> None:
        os.kill(self._processes[node].pid, signal.SIGSTOP)

    def thaw(self, node: int) -> None:
        os.kill(self._processes[node].pid, signal.SIGCONT)

    def cut_off(self, node: int) -> None:
        """From the controller and from all brokers. Clients still reach it."""
        self._off = node
        self._replication[node].cut()
        for each in (self._quorum, *self._replication.values()):
            each.drop()

    def reconnect(self, node: int) -> None:
        self._off = None
        self._replication[node].mend()

    def _is_off(self, port: int) -> bool:
        return self._off is not None and belongs(port, self._processes[self._off].pid)

    def step_clock(self, seconds: int) -> None:
        """The clock of the broker `stepped` is that far ahead of this machine's, a second from now."""
        (self.folder / "clock").write_text(f"{seconds:+d}\n")

    def logs(self, node: int) -> Path:
        return self.folder / f"logs{node}"

    def data(self, node: int) -> Path:
        return self.folder / f"data{node}"

    def log(self, node: int, name: str = "server.log") -> str:
        try:
            return (self.logs(node) / name).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _format(self, node: int) -> None:
        if not self._zookeeper:
            super()._format(node)
            return
        found = self._properties(node) if node in BROKERS else self._of_zookeeper()
        text = "".join(f"{key}={value}\n" for key, value in found.items())
        (self.folder / f"server{node}.properties").write_text(text)

    def _of_zookeeper(self) -> dict[str, str]:
        return {
            "dataDir": f"{self.folder}/zookeeper",
            "clientPort": str(self._controller_port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
        }

    def _properties(self, node: int) -> dict[str, str]:
        own = super()._properties(node if node in self.ports else 1)
        if node == CONTROLLER:
            listeners = f"CONTROLLER://127.0.0.1:{self._controller_port}"
            del own["inter.broker.listener.name"]
            # Brokers go by what the leader of the quorum advertises, not by what they are configured with.
            own["advertised.listeners"] = f"CONTROLLER://127.0.0.1:{self._quorum.port}"
        else:
            listeners = (
                f"PLAINTEXT://127.0.0.1:{self.ports[node]},REPLICATION://127.0.0.1:{self._own_ports[node]}"
            )
            own["advertised.listeners"] = (
                f"PLAINTEXT://127.0.0.1:{self.clients[node].port},"
                f"REPLICATION://127.0.0.1:{self._replication[node].port}"
            )
            own["inter.broker.listener.name"] = "REPLICATION"
        if self._zookeeper:
            kept = {name: value for name, value in own.items() if name.partition(".")[0] not in _KRAFT}
            return {
                **kept,
                "broker.id": str(node),
                "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in _LISTENERS),
                "listeners": listeners,
                "log.dirs": str(self.data(node)),
                "zookeeper.connect": f"127.0.0.1:{self._quorum.port}",
            }
        return {
            **own,
            "node.id": str(node),
            "process.roles": "controller" if node == CONTROLLER else "broker",
            "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{self._quorum.port}",
            "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in _LISTENERS),
            "listeners": listeners,
            "log.dirs": str(self.data(node)),
        }

    def _command(self, main: str, *arguments: str) -> list[str]:
        command = super()._command(main, *arguments)
        at = command.index("-cp")
        return [*command[:at], f"-D{FOLDER_PROPERTY}={self.folder}/tools", *command[at:]]

    def _launch(self, node: int) -> None:
        main = _ZOOKEEPER if self._zookeeper and node == CONTROLLER else "kafka.Kafka"
        command = self._command(main, str(self.folder / f"server{node}.properties"))
        at = command.index("-cp")
        own = [f"-D{FOLDER_PROPERTY}={self.logs(node)}", "-Duser.timezone=UTC"]
        clock = {}
        if node == self._stepped:
            clock = {
                "LD_PRELOAD": self._clock,
                "FAKETIME_TIMESTAMP_FILE": str(self.folder / "clock"),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        self.logs(node).mkdir(exist_ok=True)
        with (self.logs(node) / "kafkaServer.out").open("ab") as out:
            self._processes[node] = subprocess.Popen(
                [*command[:at], *own, *command[at:]],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, **clock},
                start_new_session=True,
            )

    def _running(self) -> int:
        return sum(1 for node, each in self._processes.items() if node in BROKERS and each.poll() is None)

    def _log(self, node: int) -> str:
        return self.log(node, "kafkaServer.out")[-3000:]


def _faketime() -> str:
    found = next((each for each in _CLOCK if Path(each).exists()), None)
    if found is None:
        raise RealBrokerError("a clock that can be set needs Debian's package faketime")
    return found
