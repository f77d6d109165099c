"""Run real Apache Kafka brokers on loopback: jars by Maven, KRaft, no container.

Needs `java` (17 or newer) and, for the first run of a release, `mvn`.
"""

import base64
import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import MockBrokerError
from . import telemetry_receiver
from .client import Client
from .setup import BROKER_CONFIG, PROCESS_CONFIG

_LOGGING = {
    "2": ("org.slf4j:slf4j-reload4j:1.7.36",),
    "3": ("org.slf4j:slf4j-reload4j:1.7.36",),
    "4": ("org.apache.logging.log4j:log4j-slf4j-impl:2.25.3", "org.apache.logging.log4j:log4j-core:2.25.3"),
}
_OLD_LOGGING = "org.slf4j:slf4j-log4j12:1.7.25"
_ON_JAVA_17 = {"2": "org.apache.zookeeper:zookeeper:3.5.9"}
"""What releases before 2.4 need besides, by major version; the others need what Java 9 took out."""
_TAKEN_OUT = "javax.xml.bind:jaxb-api:2.3.1"
_COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>mockbroker</groupId><artifactId>real-kafka</artifactId><version>{release}</version>
<packaging>pom</packaging>
<dependencies>
{dependencies}
</dependencies>
</project>
"""
# kafka-tools-api is named by the poms of 4.x but not published; brokers run without it.
_DEPENDENCY = """<dependency><groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>
<exclusions><exclusion><groupId>org.apache.kafka</groupId>\
<artifactId>kafka-tools-api</artifactId></exclusion></exclusions></dependency>"""
_LOG4J_PROPERTIES = """log4j.rootLogger=INFO, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J2_XML = """<Configuration><Appenders><Console name="A">
<PatternLayout pattern="[%d] %p %m (%c)%n"/></Console></Appenders>
<Loggers><Root level="INFO"><AppenderRef ref="A"/></Root></Loggers></Configuration>
"""
_PORTS = range(18_000, 32_000)
"""Below those that Linux and macOS give to connections."""
_START_LIMIT_S = 90.0
_STOP_LIMIT_S = 60.0


class RealBrokerError(MockBrokerError):
    """A real broker could not be fetched or started; the message says what to do."""


def cache_folder() -> Path:
    """Where jars are kept: `MOCKBROKER_CACHE`, else `~/.cache/mockbroker`."""
    return Path(os.environ.get("MOCKBROKER_CACHE") or Path.home() / ".cache" / "mockbroker")


def _program(name: str, purpose: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise RealBrokerError(f"`{name}` is not on the PATH: it is needed to {purpose}")
    return found


def fetch_jars(release: str) -> Path:
    """Folder with the run-time class path of `release`, copied by Maven on first use."""
    folder = cache_folder() / "kafka" / release
    if (folder / "complete").exists():
        return folder
    maven = _program("mvn", f"fetch the jars of Kafka {release} on first use")
    folder.mkdir(parents=True, exist_ok=True)
    pom = folder / "pom.xml"
    pom.write_text(
        _POM.format(
            release=release,
            dependencies="\n".join(_DEPENDENCY.format(*name.split(":")) for name in _wanted(release)),
        )
    )
    command = [maven, "-B", "-q", "-f", str(pom), "-C", _COPY_GOAL]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RealBrokerError(
            f"mvn could not fetch Kafka {release}:\n{done.stdout[-3000:]}{done.stderr[-2000:]}"
        )
    (folder / "complete").touch()
    return folder


def _wanted(release: str) -> tuple[str, ...]:
    """Artifacts of a release from 0.11 on; those before 2.4 need ZooKeeper. RealBrokerError."""
    major, minor = map(int, release.split(".")[:2])
    if major > max(map(int, _LOGGING)):
        raise RealBrokerError(f"Kafka {release}: only releases up to {max(_LOGGING)}.x can be fetched here")
    if (major, minor) < (2, 4):
        besides = _ON_JAVA_17.get(str(major), _TAKEN_OUT)
        return (f"org.apache.kafka:kafka_2.12:{release}", _OLD_LOGGING, besides)
    return (f"org.apache.kafka:kafka_2.13:{release}", *_LOGGING[str(major)])


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
    """`brokers` real brokers of one release (node ids from 1; node 1 is also the controller). With
    `telemetry` they take metrics of clients (KIP-714), which needs `javac`."""

    def __init__(
        self,
        release: str,
        brokers: int = 1,
        config: Mapping[str, str] | None = None,
        *,
        telemetry: bool = False,
    ) -> None:
        self.release = release
        self.config = dict(BROKER_CONFIG if config is None else config)
        self._java = _program("java", "run real Kafka brokers")
        self._jars = fetch_jars(release)
        self._folder = Path(tempfile.mkdtemp(prefix=f"kafka-{release}-"))
        if telemetry:
            javac = _program("javac", "compile the plugin that takes clients' metrics")
            self.config |= telemetry_receiver.compiled(javac, self._jars, self._folder)
        *ports, self._controller_port = free_ports(brokers + 1)
        self.ports = dict(enumerate(ports, start=1))
        # A leading "-" would read as an option of the storage tool.
        self.cluster_id = "K" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        (self._folder / "log4j.properties").write_text(_LOG4J_PROPERTIES)
        (self._folder / "log4j2.xml").write_text(_LOG4J2_XML)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def _command(self, main: str, *arguments: str) -> list[str]:
        logs = f"-Dlog4j.configuration=file:{self._folder}/log4j.properties"
        logs2 = f"-Dlog4j2.configurationFile={self._folder}/log4j2.xml"
        small = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        return [self._java, *small, logs, logs2, "-cp", f"{self._jars}/*:{self._folder}", main, *arguments]

    def _properties(self, node: int) -> dict[str, str]:
        controller = node == 1
        listeners = f"PLAINTEXT://127.0.0.1:{self.ports[node]}"
        if controller:
            listeners += f",CONTROLLER://127.0.0.1:{self._controller_port}"
        return {
            **PROCESS_CONFIG,
            **self.config,
            "node.id": str(node),
            "process.roles": "broker,controller" if controller else "broker",
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "listeners": listeners,
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.ports[node]}",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": f"{self._folder}/data{node}",
        }

    def start(self) -> None:
        """Format the storage, start every broker and wait until all of them are in Metadata."""
        for node in self.ports:
            self._format(node)
            self._launch(node)
        for node in self.ports:
            self._await(node)

    def stop_broker(self, node: int) -> None:
        """Shut one of several brokers down in order, and wait until it is gone."""
        process = self._processes[node]
        process.terminate()
        try:
            process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise RealBrokerError(f"broker {node} did not stop:\n{self._log(node)}") from None

    def kill_broker(self, node: int) -> None:
        """Kill one of several brokers, which tells nobody, and wait until it is gone."""
        process = self._processes[node]
        process.kill()
        process.wait()

    def start_broker(self, node: int) -> None:
        """Start one that was stopped or killed, and wait until it knows of all that run."""
        self._launch(node)
        self._await(node)

    def _await(self, node: int) -> None:
        limit = time.monotonic() + _START_LIMIT_S
        while not self._up(node):
            if self._processes[node].poll() is not None or time.monotonic() > limit:
                raise RealBrokerError(
                    f"broker {node} of Kafka {self.release} did not start:\n{self._log(node)}"
                )
            time.sleep(0.1)

    def _format(self, node: int) -> None:
        file = self._folder / f"server{node}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in self._properties(node).items()))
        with (self._folder / f"broker{node}.log").open("ab") as log:
            storage = ("kafka.tools.StorageTool", "format", "-t", self.cluster_id, "-c", str(file))
            formatted = subprocess.run(self._command(*storage), check=False, stdout=log, stderr=log)
        if formatted.returncode:
            raise RealBrokerError(f"storage of broker {node} could not be formatted:\n{self._log(node)}")

    def _launch(self, node: int) -> None:
        with (self._folder / f"broker{node}.log").open("ab") as log:
            self._processes[node] = subprocess.Popen(
                self._command("kafka.Kafka", str(self._folder / f"server{node}.properties")),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _up(self, node: int) -> bool:
        try:
            with Client("127.0.0.1", self.ports[node], timeout=5) as client:
                answer = client.call("metadata", 4, {"topics": [], "allow_auto_topic_creation": False})
        except OSError:
            return False
        return len(answer["brokers"]) == self._running()

    def _running(self) -> int:
        """How many brokers run."""
        return sum(1 for each in self._processes.values() if each.poll() is None)

    def _log(self, node: int) -> str:
        return (self._folder / f"broker{node}.log").read_text(errors="replace")[-3000:]

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

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
