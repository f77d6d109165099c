"""kcat in the scenario."""

from __future__ import annotations

from .. import needs
from . import process
from .process import Member, Said
from .scenario import PARTITIONS, Plan

CONSUMER = {
    "auto.offset.reset": "earliest",
    "heartbeat.interval.ms": "200",
    "queued.min.messages": "100",
    "fetch.message.max.bytes": "20000",
}


class Client(process.Client):
    said = Said(
        assigned=r"% Group \S+ rebalanced .*: assigned: (.*)",
        rebalancing=r"is rebalancing \(",
        record=rb"(\d+) (\d+) (\S+) (.*)",
        stopped=[0],
    )

    def produce(self, plan: Plan, indexes: range) -> None:
        for partition in range(PARTITIONS):
            mine = [i for i in indexes if i % PARTITIONS == partition]
            command = [needs.need("kcat"), "-P", "-b", self._bootstrap, "-t", plan.topic, "-K", "|"]
            command += ["-p", str(partition), "-z", plan.codec]
            command += ["-X", f"enable.idempotence={str(plan.idempotent).lower()}"]
            process.feed(command, process.lines(mine, b"|"))

    def member(self, plan: Plan, instance: str) -> Member:
        conf = CONSUMER | {"partition.assignment.strategy": plan.assignor}
        settings = [part for item in conf.items() for part in ("-X", "=".join(item))]
        form = ["-u", "-d", "cgrp", "-f", "%p %o %k %s\n"]
        command = [needs.need("kcat"), "-b", self._bootstrap, *settings, *form, "-G", plan.group, plan.topic]
        return Member(self, plan, command)
