"""Runs a finding's program against mock brokers, or against real ones."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final

import trio

from mockbroker.clients.drivers import SHIPPED, command_for
from mockbroker.clients.drivers.building import go_file, rust_file
from mockbroker.clients.drivers.shipped import PROGRAMS
from mockbroker.conformance.differential.coordinating import GROUPS, move
from mockbroker.conformance.differential.waiting import until
from mockbroker.errors import MockBrokerError
from mockbroker.rig.client import Client
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.scenario.command import Command
from mockbroker.scenario.playing import Player
from mockbroker.scenario.scenario import load

from .finding import Finding

MOVE: Final = "MOVE_COORDINATOR"
"""Has the command that makes the other broker the coordinator, for programs that need it."""
MOVE_LEADER: Final = "MOVE_LEADER"
"""Has the command that makes the other broker the leader of a topic's first partition."""
STAND_STILL: Final = "STAND_STILL"
"""Has the command that makes brokers answer `Finding.late` two seconds late, the next time: real ones stand
still for so long."""
LEAVE: Final = "LEAVE"
COME_BACK: Final = "COME_BACK"
"""Have the commands that let `Finding.leaves` go away and come back: a real broker stands still meanwhile."""
_LATE_S: Final = 2
_GONE_S: Final = 12
"""After so long the others do without a broker that hangs: `broker.session.timeout.ms` is 9 s."""
_RIGHTS: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
_BUILT: Final = {"go": go_file, "rust": rust_file}
"""By language, of programs that are built with what a driver is built with."""
_TOPIC: Final = 2
_WRITE, _DESCRIBE = 4, 8
_DENY, _ALLOW = 2, 3
_LIMIT_S: Final = 120.0
_MOVE_LIMIT_S: Final = 30.0


class PlayError(MockBrokerError):
    """The program or the scenario failed; the message has what was written to standard error."""


def on_mocks(finding: Finding, python: str = sys.executable, release: str | None = None) -> str:
    """What the program prints. `python` has the client; it may be another environment's. `release` is that of
    a client of Node, Go or Rust. The brokers are in this process. PlayError, BuildError."""
    runs, paths = _runs(finding, python, release)
    ctl = f"{sys.executable} -m mockbroker ctl"
    moving = {
        MOVE: f"{ctl} groups move-coordinator {finding.moves}",
        MOVE_LEADER: f"{ctl} partitions move-leader {finding.moves_leader} 0",
        STAND_STILL: f"{ctl} faults add delay api={finding.late} ms={_LATE_S * 1000} times=1",
        **_going(ctl, finding),
    }
    return trio.run(_played, finding.scenario, runs, {**moving, **paths})


async def _played(path: Path, command: Sequence[str], given: Mapping[str, str]) -> str:
    """What a program prints while a scenario is played. PlayError."""
    told: list[str] = []
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        status = None
        with trio.move_on_after(_LIMIT_S):
            program = _Program(command, given, output, errors)
            status = await Player(load(path), told.append, beside="the program").play(program)
        out, said = (_text(each) for each in (output, errors))
    if status is None:
        raise PlayError(f"not done after {_LIMIT_S:.0f} s\n{out}{said}")
    if status:
        raise PlayError("\n".join([f"status {status}", *told, f"{out}{said}"]))
    return out


class _Program(Command):
    """With environment variables besides those that every command is given."""

    def __init__(
        self, command: Sequence[str], given: Mapping[str, str], output: IO[bytes], errors: IO[bytes]
    ) -> None:
        super().__init__(command, output, errors)
        self._given = given

    async def start(self, environment: Mapping[str, str]) -> None:
        await super().start({**environment, **self._given})


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _going(ctl: str, finding: Finding) -> Mapping[str, str]:
    """The commands that let a broker stop or hang, and come back."""
    broker = finding.leaves
    if finding.hangs:
        hang = f"{ctl} faults add silence broker={broker} && {ctl} brokers cut-off {broker}"
        return {
            LEAVE: f"{hang} && sleep {_GONE_S}",
            COME_BACK: f"{ctl} faults clear && {ctl} brokers rejoin {broker}",
        }
    return {LEAVE: f"{ctl} brokers stop {broker}", COME_BACK: f"{ctl} brokers start {broker}"}


def on_real_brokers(
    finding: Finding, kafka: str, python: str = sys.executable, release: str | None = None
) -> str:
    """What the program prints. PlayError, RealBrokerError, BuildError."""
    scenario = load(finding.scenario)
    if (
        (scenario.faults and finding.forbids is None)
        or scenario.steps
        or any(each.moment for each in scenario.checks)
    ):
        raise PlayError(f"{finding.name} needs {finding.needs}: real brokers don't do that when asked")
    cluster = scenario.cluster
    brokers = cluster.get("brokers", 3)
    rights = {} if finding.forbids is None else _RIGHTS
    logs_in = "security" in cluster
    config = {**BROKER_CONFIG, **rights, **cluster.get("config", {})}
    racks = {node: {"broker.rack": rack} for node, rack in cluster.get("racks", {}).items()}
    real = RealCluster(kafka, brokers, config, sasl=logs_in, nodes=racks)
    runs, paths = _runs(finding, python, release)
    with real:
        replicas = config.get("default.replication.factor", brokers)
        _create_topics(real.ports[1], cluster.get("topics", {}), int(replicas))
        if finding.forbids is not None:
            _forbid(real.ports[1], finding.forbids)
        given = {
            "BOOTSTRAP_SERVERS": ",".join(real.login_servers) if logs_in else real.bootstrap_servers,
            MOVE: f"{sys.executable} -m found move-leader {GROUPS}",
            MOVE_LEADER: f"{sys.executable} -m found move-leader {finding.moves_leader}",
            STAND_STILL: _standing_still([real.pid(node) for node in real.nodes]),
            **_leaving(real, finding.leaves),
            **paths,
        }
        return _printed(runs, given)


def _runs(finding: Finding, python: str, release: str | None) -> tuple[Sequence[str], Mapping[str, str]]:
    """The command that runs the program, and the environment variables by which it finds the client."""
    program = str(finding.program)
    if finding.language == "python":
        return [python, program], {}
    if finding.language in _BUILT:
        package = SHIPPED[finding.subject].package
        build = _BUILT[finding.language]
        own = PROGRAMS / finding.subject
        project = own if own.exists() else PROGRAMS / finding.language
        return [str(build(project, finding.program, package, release))], {}
    *runs, driver = command_for(finding.subject, release)
    if finding.language == "java":
        return [*runs, program], {}
    return [*runs, program], {"NODE_PATH": str(Path(driver).parent / "node_modules")}


def _printed(command: Sequence[str], given: Mapping[str, str]) -> str:
    process = subprocess.Popen(
        command,
        env={**os.environ, **given},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        # The program too, which is not this one's child.
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
        raise PlayError(f"not done after {_LIMIT_S:.0f} s\n{out}{errors}") from None
    if process.returncode:
        raise PlayError(f"status {process.returncode}\n{out}{errors}")
    return out


def _standing_still(pids: Sequence[int]) -> str:
    """A command that returns as soon as these processes do nothing."""
    every = " ".join(map(str, pids))
    return f"kill -STOP {every}; (sleep {_LATE_S}; kill -CONT {every}) > /dev/null 2>&1 &"


def _leaving(real: RealCluster, broker: int | None) -> Mapping[str, str]:
    """The commands that let a broker stand still until it leads nothing, and go on until it leads again."""
    if broker is None:
        return {}
    pid, port = real.pid(broker), real.ports[broker]
    wait = f"{sys.executable} -m found await-leaders {port}"
    return {
        LEAVE: f"kill -STOP {pid} && {wait} --gone",
        COME_BACK: f"kill -CONT {pid} && {wait}",
    }


def await_leaders(bootstrap_servers: str, port: int, *, gone: bool) -> None:
    """Waits until the broker at `port` of a real cluster leads a partition, or, if it is `gone`, none.
    PlayError."""
    with _asking(bootstrap_servers) as client:
        if not until(lambda: (port in _leading(client)) is not gone, _MOVE_LIMIT_S):
            raise PlayError(f"the broker at port {port} {'still leads' if gone else 'does not lead'}")


def _leading(client: Client) -> set[int]:
    """The ports of all brokers that lead a partition."""
    told = _metadata(client, None)
    ports = {each["node_id"]: each["port"] for each in told["brokers"]}
    leaders = {each["leader_id"] for topic in told["topics"] for each in topic["partitions"]}
    return {ports[each] for each in leaders if each in ports}


def _create_topics(port: int, topics: Mapping[str, int], replicas: int) -> None:
    wanted = [
        {
            "name": name,
            "num_partitions": partitions,
            "replication_factor": replicas,
            "assignments": [],
            "configs": [],
        }
        for name, partitions in topics.items()
    ]
    with Client("127.0.0.1", port) as client:
        created = client.call(
            "create_topics", 3, {"topics": wanted, "timeout": 30_000, "validate_only": False}
        )
    refused = [each for each in created["topics"] if each["error_code"] != "NONE"]
    if refused:
        raise PlayError(f"topics were not created: {refused}")


def _forbid(port: int, topic: str) -> None:
    """Everybody may see the topic, and nobody may write to it."""
    acls = [
        {
            "resource_type": _TOPIC,
            "resource_name": topic,
            "principal": "User:*",
            "host": "*",
            "operation": operation,
            "permission_type": permission,
        }
        for operation, permission in ((_WRITE, _DENY), (_DESCRIBE, _ALLOW))
    ]
    with Client("127.0.0.1", port) as client:
        created = client.call("create_acls", 2, {"creations": acls})
    if any(each["error_code"] != "NONE" for each in created["results"]):
        raise PlayError(f"the topic {topic} was not forbidden: {created['results']}")


def move_leader(bootstrap_servers: str, topic: str) -> None:
    """Has another broker lead the first partition of a topic of a real cluster, and waits until it does.
    PlayError."""
    with _asking(bootstrap_servers) as client:
        brokers = _metadata(client, topic)["brokers"]
        nodes = {each["node_id"]: Client(each["host"], each["port"]) for each in brokers}
        try:
            before = _leader(client, topic)
            after = next(each for each in sorted(nodes) if each != before)
            move(topic, after, nodes)
            if not until(lambda: all(_leader(e, topic) == after for e in nodes.values()), _MOVE_LIMIT_S):
                raise PlayError(f"broker {after} did not become the leader of {topic}")
        finally:
            for each in nodes.values():
                each.close()


def _asking(bootstrap_servers: str) -> Client:
    """A client of the first of these brokers."""
    host, port = bootstrap_servers.split(",")[0].rsplit(":", 1)
    return Client(host, int(port))


def _metadata(client: Client, topic: str | None) -> Any:
    """Of a topic, or of all."""
    topics = None if topic is None else [{"name": topic}]
    return client.call("metadata", 4, {"topics": topics, "allow_auto_topic_creation": False})


def _leader(client: Client, topic: str) -> int:
    [described] = _metadata(client, topic)["topics"]
    return int(described["partitions"][0]["leader_id"])


def tried(finding: Finding) -> str:
    """The client that is installed here, with its version, or the broker."""
    if finding.client is None or finding.language != "python":
        return finding.subject
    return f"{finding.client} {version(finding.client)}"


def no_longer(finding: Finding, printed: str) -> str:
    """What to tell if a program printed something else."""
    return (
        f"{tried(finding)} no longer does this: {finding.title}\n"
        f"If it was mended upstream, say so in found/{finding.name}/finding.toml.\n"
        f"--- it printed\n{printed}--- with the defect it prints\n{finding.expected}"
    )
