"""Kafka's console producer and consumer in the scenario."""

from __future__ import annotations

from . import build, java, process
from .process import Member, Said
from .scenario import BATCH, Plan

VERSION = "4.3.1"
COORDINATOR = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"


def tool(main: str, *args: str) -> list[str]:
    """The command of one of Kafka's tools."""
    return java.command(java.class_path(VERSION, build.HERE / "java-tools"), main, *args)


class Client(process.Client):
    said = Said(
        assigned=r"Notifying assignor about the new Assignment\(partitions=\[(.*)\]\)",
        rebalancing=r"Request joining group due to: group is already rebalancing",
        record=rb"Partition:(\d+)\tOffset:(\d+)\t(\S+)\t(.*)",
        stopped=[143],
    )

    def produce(self, plan: Plan, indexes: range) -> None:
        command = tool(
            "org.apache.kafka.tools.ConsoleProducer",
            *("--bootstrap-server", self._bootstrap, "--topic", plan.topic),
            *("--compression-codec", plan.codec, "--reader-property", "parse.key=true"),
        )
        process.feed(command, process.lines(indexes, b"\t"))

    def member(self, plan: Plan, instance: str) -> Member:
        command = tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            *("--bootstrap-server", self._bootstrap, "--topic", plan.topic, "--group", plan.group),
            *("--from-beginning", "--command-property", "heartbeat.interval.ms=200"),
            *("--command-property", f"max.poll.records={BATCH}"),
            *(f"--formatter-property=print.{what}=true" for what in ("partition", "offset", "key")),
        )
        command.insert(1, f"-Dorg.slf4j.simpleLogger.log.{COORDINATOR}=info")
        return Member(self, plan, command)
