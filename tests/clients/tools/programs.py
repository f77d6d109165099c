"""Runs the tools: Kafka's in one JVM, since each takes a second to start; others in their own process."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mockbroker.clients.drivers.shipped import LOG_LEVEL

from ... import needs
from .. import build, java
from ..console import VERSION
from ..scenario import TIMEOUT

PACKAGE: Final = "org.apache.kafka.tools"
MAIN: Final = {
    "acls": f"{PACKAGE}.AclCommand",
    "broker-api-versions": f"{PACKAGE}.BrokerApiVersionsCommand",
    "client-metrics": f"{PACKAGE}.ClientMetricsCommand",
    "cluster": f"{PACKAGE}.ClusterTool",
    "configs": "kafka.admin.ConfigCommand",
    "console-share-consumer": f"{PACKAGE}.consumer.ConsoleShareConsumer",
    "consumer-groups": f"{PACKAGE}.consumer.group.ConsumerGroupCommand",
    "delegation-tokens": f"{PACKAGE}.DelegationTokenCommand",
    "delete-records": f"{PACKAGE}.DeleteRecordsCommand",
    "features": f"{PACKAGE}.FeatureCommand",
    "get-offsets": f"{PACKAGE}.GetOffsetShell",
    "groups": f"{PACKAGE}.GroupsCommand",
    "leader-election": f"{PACKAGE}.LeaderElectionCommand",
    "log-dirs": f"{PACKAGE}.LogDirsCommand",
    "metadata-quorum": f"{PACKAGE}.MetadataQuorumCommand",
    "reassign-partitions": f"{PACKAGE}.reassign.ReassignPartitionsCommand",
    "share-groups": f"{PACKAGE}.consumer.group.ShareGroupCommand",
    "streams-groups": f"{PACKAGE}.streams.StreamsGroupCommand",
    "topics": f"{PACKAGE}.TopicCommand",
    "transactions": f"{PACKAGE}.TransactionsCommand",
    "verifiable-consumer": f"{PACKAGE}.VerifiableConsumer",
    "verifiable-producer": f"{PACKAGE}.VerifiableProducer",
    "verifiable-share-consumer": f"{PACKAGE}.VerifiableShareConsumer",
}
"""Named after Kafka's scripts, without `kafka-` and `.sh`."""
EXITS: Final = (
    "console-share-consumer",
    "verifiable-consumer",
    "verifiable-producer",
    "verifiable-share-consumer",
)
"""These end their JVM."""
SUBCOMMAND_FIRST: Final = ("cluster",)
"""These take the brokers after their subcommand, others before."""
Printed = tuple[list[str], int]
"""Lines as a session has them, and the exit status."""


class Programs:
    """Files that commands name are in `folder`."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="tools-")
        self.folder = Path(self._temporary.name)
        self._process: subprocess.Popen[str] | None = None

    def run(self, bootstrap: str, words: Sequence[str]) -> Printed:
        tool, *arguments = words
        if tool == "kcat":
            return self._own([needs.need("kcat"), "-b", bootstrap, *arguments])
        broker = ["--bootstrap-server", bootstrap]
        arguments = [*arguments, *broker] if tool in SUBCOMMAND_FIRST else [*broker, *arguments]
        if tool in EXITS:
            return self._own(self._java(MAIN[tool], arguments))
        return self._in_the_jvm(MAIN[tool], arguments)

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
        self._temporary.cleanup()

    def _own(self, command: Sequence[str]) -> Printed:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, timeout=TIMEOUT, check=False
        )
        lines = [f"  {line}" for line in done.stdout.splitlines()]
        return [*lines, *(f"! {line}" for line in done.stderr.splitlines())], done.returncode

    @staticmethod
    def _java(main: str, arguments: Sequence[str]) -> list[str]:
        classes = java.class_path(VERSION, build.HERE / "java-tools")
        return [needs.need("java"), *java.FLAGS, f"{LOG_LEVEL}=off", "-cp", classes, main, *arguments]

    def _in_the_jvm(self, main: str, arguments: Sequence[str]) -> Printed:
        if self._process is None:
            self._process = subprocess.Popen(
                self._java("Tools", []),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                text=True,
            )
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\t".join([main, *arguments]) + "\n")
        self._process.stdin.flush()
        lines: list[str] = []
        for line in self._process.stdout:
            kind, _, text = line.rstrip("\n").partition(" ")
            if kind == "exit":
                return lines, int(text)
            lines.append(f"{'!' if kind == 'err' else ' '} {text}")
        raise AssertionError("the JVM ended")
