"""Run real Apache Kafka brokers on loopback: jars by Maven, KRaft or ZooKeeper, no container.

Needs `java` (17 or newer) and, for the first run of a release, `mvn`.
"""

import base64
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from . import sasl_listener, telemetry_receiver
from .certificates import Certificates
from .client import Client
from .downloads import RealBrokerError, broker_jars, program
from .ending_together import EndingTogether
from .more_listeners import MoreListeners
from .requests import metadata
from .setup import BROKER_CONFIG, LOGGING, PROCESS_CONFIG

CONTROLLER: Final = 100
"""Node id of a controller that is not a broker, or of ZooKeeper."""
BETWEEN: Final = "REPLICATION"
"""The listener at which brokers reach each other, where there is one."""
_PORTS: Final = range(18_000, 32_000)
"""Below those that Linux and macOS give to connections."""
_START_LIMIT_S: Final = 90.0
_STOP_LIMIT_S: Final = 60.0
_LIMIT_S: Final = 150.0
_STILL_S: Final = 1.5
_PACE_S: Final = 0.1
_LAST_WORDS: Final = 3000
_TOOL: Final = 0
"""In place of a node's id."""
_CHECKPOINTS: Final = ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint")
_ZOOKEEPER: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_ONLY_KRAFT: Final = ("node.", "process.", "controller.", "broker.session.", "broker.heartbeat.")
"""How settings begin that brokers with ZooKeeper don't have."""


def free_ports(count: int) -> list[int]:
    """Ports of this machine on which nothing listens now, and from which nothing connects later: a broker
    that is started again needs its own. RealBrokerError.
    """
    found: list[int] = []
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise RealBrokerError(f"no {count} ports are free from {_PORTS.start} to {_PORTS.stop}")


class RealCluster:
    """`brokers` real brokers of one release, with node ids from 1. Node 1 is also the controller, unless that
    is `apart`; releases before 3.0 have ZooKeeper beside them. With `telemetry` brokers take metrics of
    clients (KIP-714), which needs `javac`; with `sasl` they have the listener of `rig.sasl_listener` too, and
    with `jwks` it takes tokens that were signed by one of these keys. `listeners` are more of them, by name
    with their protocols, which may be SSL and SASL_SSL. `nodes` is what single nodes are configured with,
    by id, in place of `config`. A `rig.brokers.SecureBrokers`."""

    jvm: Sequence[str] = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    """Options of each broker's Java: these start soon and take little."""

    def __init__(
        self,
        release: str,
        brokers: int = 1,
        config: Mapping[str, str] | None = None,
        *,
        telemetry: bool = False,
        apart: bool = False,
        sasl: bool = False,
        jwks: str | None = None,
        listeners: Mapping[str, str] = MappingProxyType({}),
        nodes: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self.release = release
        self._configs_of = nodes
        self.zookeeper = int(release.split(".")[0]) < 3
        self.config = dict(BROKER_CONFIG if config is None else config)
        self._java = program("java", "run real Kafka brokers")
        self._jars = broker_jars(release)
        self.folder = Path(tempfile.mkdtemp(prefix=f"kafka-{release}-"))
        if telemetry:
            javac = program("javac", "compile the plugin that takes clients' metrics")
            self.config |= telemetry_receiver.compiled(javac, self._jars, self.folder)
        protocols = {**({sasl_listener.NAME: "SASL_PLAINTEXT"} if sasl else {}), **listeners}
        self._more = MoreListeners(protocols, self.folder, jwks)
        *ports, self._controller_port = free_ports(1 + brokers * (1 + len(protocols)))
        self.ports = dict(enumerate(ports[:brokers], start=1))
        self._more.take(ports[brokers:], brokers)
        self._controller = CONTROLLER if apart or self.zookeeper else 1
        # A leading "-" would read as an option of the storage tool.
        self.cluster_id = "K" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._group = EndingTogether()
        for name, text in LOGGING.items():
            (self.folder / name).write_text(text)

    def pid(self, node: int) -> int:
        """Of the node's process, the last one."""
        return self._processes[node].pid

    @property
    def nodes(self) -> Sequence[int]:
        return list(self.ports)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    @property
    def login_servers(self) -> Sequence[str]:
        """The addresses of listeners with SASL."""
        return [f"{host}:{port}" for host, port in self._more.addresses(sasl_listener.NAME).values()]

    @property
    def jwks(self) -> Path:
        return self._more.file_of_keys

    @property
    def certificates(self) -> Certificates:
        return self._more.certificates

    def address(self, listener: str) -> tuple[str, int]:
        return self._more.addresses(listener)[1]

    def data(self, node: int) -> Path:
        """The folder with its segments."""
        return self.folder / f"data{node}"

    def log(self, node: int) -> str:
        """What it has logged."""
        return self._output(node).read_text(errors="replace")

    # -- how nodes are set up; a subclass may say otherwise

    def _listeners(self, node: int) -> dict[str, tuple[int, int]]:
        """By name: the port on which a node listens, and the one that it tells others."""
        found = {"PLAINTEXT": (self.ports[node], self.ports[node])} if node in self.ports else {}
        if node in self.ports:
            found |= {name: (port, port) for name, port in self._more.of(node).items()}
        if node == self._controller:
            found["CONTROLLER"] = (self._controller_port, self._controller_port)
        return found

    @property
    def _quorum_port(self) -> int:
        """Where brokers reach the controller or ZooKeeper."""
        return self._controller_port

    def _output(self, node: int) -> Path:
        """Where the process writes."""
        return self.folder / f"broker{node}.log"

    def _options(self, node: int) -> Sequence[str]:
        """Of the JVM of a node, or of a tool."""
        return ()

    def _environment(self, node: int) -> Mapping[str, str]:
        """What is added to that of this process."""
        return {}

    def _jars_of(self, node: int) -> Path:
        """The class path of a node, or of a tool."""
        return self._jars

    def _properties(self, node: int) -> dict[str, str]:
        listeners = self._listeners(node)
        found = {
            **PROCESS_CONFIG,
            **{key: value for key, value in self.config.items() if not key.startswith("zookeeper.")},
            **self._configs_of.get(node, {}),
            "node.id": str(node),
            "process.roles": ",".join(self._roles(node)),
            "controller.quorum.voters": f"{self._controller}@127.0.0.1:{self._quorum_port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": ",".join(
                f"{each}:{self._more.protocols.get(each, 'PLAINTEXT')}" for each in self._every_listener()
            ),
            "listeners": _addresses({name: port for name, (port, _) in listeners.items()}),
            "log.dirs": str(self.data(node)),
        }
        if node in self.ports:
            found = self._more.properties(self.release) | found
            advertised = {name: port for name, (_, port) in listeners.items() if name != "CONTROLLER"}
            found["advertised.listeners"] = _addresses(advertised)
            found["inter.broker.listener.name"] = BETWEEN if BETWEEN in advertised else "PLAINTEXT"
        elif self._quorum_port != self._controller_port:
            # Brokers go by what the leader of the quorum advertises, not by what they are configured with.
            found["advertised.listeners"] = _addresses({"CONTROLLER": self._quorum_port})
        if not self.zookeeper:
            return found
        kept = {key: value for key, value in found.items() if not key.startswith(_ONLY_KRAFT)}
        sessions = {key: value for key, value in self.config.items() if key.startswith("zookeeper.")}
        reached = {"zookeeper.connect": f"127.0.0.1:{self._quorum_port}"}
        return {**kept, **sessions, **reached, "broker.id": str(node)}

    def _roles(self, node: int) -> Iterable[str]:
        return (["broker"] if node in self.ports else []) + ["controller"] * (node == self._controller)

    def _every_listener(self) -> Iterable[str]:
        return dict.fromkeys(name for node in self._nodes() for name in self._listeners(node))

    def _nodes(self) -> list[int]:
        """In the order in which they start."""
        return list(dict.fromkeys((self._controller, *self.ports)))

    def _of_zookeeper(self) -> dict[str, str]:
        return {
            "dataDir": f"{self.folder}/zookeeper",
            "clientPort": str(self._controller_port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "tickTime": "500",
            "maxSessionTimeout": "200000",
        }

    # -- processes

    def start(self) -> None:
        """Format the storage, start every broker and wait until all of them are in Metadata."""
        for node in self._nodes():
            self._format(node)
            self._launch(node)
        for node in self.ports:
            self._await(node)

    def stop_broker(self, broker: int) -> None:
        """Shut one of several brokers down in order, and wait until it is gone."""
        process = self._processes[broker]
        process.terminate()
        try:
            process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise RealBrokerError(f"broker {broker} did not stop:\n{self._last_words(broker)}") from None

    def kill_broker(self, broker: int) -> None:
        """Kill one of several brokers, which tells nobody, and wait until it is gone."""
        process = self._processes[broker]
        process.kill()
        process.wait()

    def start_broker(self, broker: int) -> None:
        """Start one that was stopped or killed, and wait until it knows of all that run."""
        self._launch(broker)
        self._await(broker)

    def hold(self, broker: int) -> None:
        """Its process stands still until it is let go."""
        os.kill(self._processes[broker].pid, signal.SIGSTOP)

    def let_go(self, broker: int) -> None:
        os.kill(self._processes[broker].pid, signal.SIGCONT)

    def _await(self, node: int) -> None:
        limit = time.monotonic() + _START_LIMIT_S
        while not self._up(node):
            if self._processes[node].poll() is not None or time.monotonic() > limit:
                raise RealBrokerError(
                    f"broker {node} of Kafka {self.release} did not start:\n{self._last_words(node)}"
                )
            time.sleep(_PACE_S)

    def _format(self, node: int) -> None:
        file = self._properties_file(node)
        zookeeper = self.zookeeper and node == self._controller
        given = self._of_zookeeper() if zookeeper else self._properties(node)
        file.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
        if self.zookeeper:
            return
        storage = ("kafka.tools.StorageTool", "format", "-t", self.cluster_id, "-c", str(file))
        command = self._command(_TOOL, *storage)
        formatted = subprocess.run(command, check=False, capture_output=True, text=True)
        if formatted.returncode:
            said = f"{formatted.stdout}{formatted.stderr}"[-_LAST_WORDS:]
            raise RealBrokerError(f"storage of broker {node} could not be formatted:\n{said}")

    def _launch(self, node: int) -> None:
        main = _ZOOKEEPER if self.zookeeper and node == self._controller else "kafka.Kafka"
        self._output(node).parent.mkdir(exist_ok=True)
        with self._output(node).open("ab") as log:
            self._processes[node] = subprocess.Popen(
                self._command(node, main, str(self._properties_file(node))),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self._environment(node)},
                process_group=self._group.id,
            )

    def _properties_file(self, node: int) -> Path:
        return self.folder / f"server{node}.properties"

    def _command(self, node: int, main: str, *arguments: str) -> list[str]:
        logs = f"-Dlog4j.configuration=file:{self.folder}/log4j.properties"
        logs2 = f"-Dlog4j2.configurationFile={self.folder}/log4j2.xml"
        options = [*self._more.options(), *self._options(node)]
        classes = ["-cp", f"{self._jars_of(node)}/*:{self.folder}"]
        return [self._java, *self.jvm, logs, logs2, *options, *classes, main, *arguments]

    def _up(self, node: int) -> bool:
        try:
            with Client("127.0.0.1", self.ports[node], timeout=5) as client:
                answer = client.call("metadata", 4, metadata())
        except OSError:
            return False
        return len(answer["brokers"]) == sum(self._processes[each].poll() is None for each in self.ports)

    def _last_words(self, node: int) -> str:
        return self._output(node).read_text(errors="replace")[-_LAST_WORDS:]

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()
        self._group.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- what stories ask for

    def client(self, broker: int, client_id: str = "conformance", *, sasl: bool = False) -> Client:
        plain = "127.0.0.1", self.ports[broker]
        host, port = self._more.addresses(sasl_listener.NAME)[broker] if sasl else plain
        return Client(host, port, client_id, timeout=30)

    def settle(self, look: Callable[[int], Any], online: Sequence[int]) -> Any:
        limit, since, last = time.monotonic() + _LIMIT_S, time.monotonic(), None
        while True:
            seen = [look(broker) for broker in online]
            if any(each != seen[0] for each in seen) or seen != last:
                since, last = time.monotonic(), seen
            elif time.monotonic() - since > _STILL_S * (1 + self.zookeeper):
                return seen[0]
            if time.monotonic() > limit:
                raise TimeoutError(f"brokers {online} do not agree: {seen}")
            time.sleep(_PACE_S)

    def checkpoint(self, broker: int) -> None:
        """Returns once its checkpoints are written, which happens at regular times whatever is in them."""
        files = [self.data(broker) / name for name in _CHECKPOINTS]
        for _ in range(2):
            before = [_written_at(file) for file in files]
            self.until(partial(_all_written_since, files, before), f"checkpoints of broker {broker}")

    def until(self, done: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + _LIMIT_S
        while not done():
            if time.monotonic() > limit:
                raise TimeoutError(f"waited in vain for {what}")
            time.sleep(_PACE_S)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _addresses(ports: Mapping[str, int]) -> str:
    return ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())


def _written_at(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def _all_written_since(files: Sequence[Path], before: Sequence[int]) -> bool:
    return all(_written_at(file) != then for file, then in zip(files, before, strict=True))
