"""Consumers that are programs: records on stdout, news of the group on stderr."""

from __future__ import annotations

import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from . import scenario
from .scenario import BATCH, PARTITIONS, TIMEOUT, Plan, Record

CHUNK = 8_192
"""Bytes. What waits here, in the pipe and in the program: less than a partition of `MANY` has after PART."""
PARTITION = re.compile(r"[\[-](\d+)\b")


@dataclass(frozen=True)
class Said:
    """What a program writes to stderr."""

    assigned: str
    """Matches the news of an assignment; group 1 lists the partitions."""
    rebalancing: str
    """Matches when the member got to know of a rebalance."""
    record: bytes
    """Matches a line of stdout: partition, offset, key, value."""
    stopped: Sequence[int]
    """Its exit status after SIGTERM."""


class Member:
    """A consumer of a group. Unread output blocks it; its heartbeats go on."""

    def __init__(self, client: Client, plan: Plan, command: Sequence[str]) -> None:
        self._client, self._plan, self._said = client, plan, client.said
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self._process.stdout
        assert self._process.stderr
        self._stdout, self._stderr = self._process.stdout, self._process.stderr
        os.set_blocking(self._stdout.fileno(), False)
        self._rest = b""
        self._errors: list[str] = []
        self._rebalancing = threading.Event()
        self._held = False
        self._assigned: frozenset[int] = frozenset()
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    def _listen(self) -> None:
        for line in self._stderr:
            text = line.decode()
            self._errors.append(text)
            if match := re.search(self._said.assigned, text):
                found = match[1].replace(f"{self._plan.topic}", "")
                self._assigned = frozenset(int(p) for p in PARTITION.findall(found))
            if re.search(self._said.rebalancing, text):
                self._rebalancing.set()

    @property
    def assigned(self) -> frozenset[int]:
        return self._assigned

    def poll(self) -> list[Record]:
        if self._held and not self._rebalancing.wait(0.05):
            return []
        lines = self._lines()
        if not lines and self._process.poll() is not None:
            raise AssertionError(f"status {self._process.returncode}\n{''.join(self._errors)}")
        return lines

    def _lines(self) -> list[Record]:
        if b"\n" not in self._rest and select.select([self._stdout], [], [], 0.05)[0]:
            self._rest += os.read(self._stdout.fileno(), CHUNK)
        *lines, self._rest = self._rest.split(b"\n", BATCH)
        return [self._record(line) for line in lines]

    def _record(self, line: bytes) -> Record:
        match = re.fullmatch(self._said.record, line)
        assert match, line
        partition, offset, key, value = match.groups()
        return Record(int(partition), int(offset), key, value)

    def hold(self) -> None:
        """Read no more until it knows of a rebalance, which it takes part in when it can go on."""
        self._rebalancing.clear()
        self._held = True

    def release(self) -> None:
        self._held = False

    def commit(self) -> None:
        """They commit when they stop."""
        self._process.terminate()
        end = time.monotonic() + TIMEOUT
        while self._process.poll() is None and time.monotonic() < end:
            assert not self._lines(), "records after the last"
        assert self._process.poll() in self._said.stopped, "".join(self._errors)

    def committed(self) -> Mapping[int, int]:
        return self._client.committed(self._plan)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._stdout.close()
        self._stderr.close()


class Client:
    """What all programs share. Topics are created, and committed offsets read, by confluent-kafka."""

    said: Said

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap})

    def create(self, topic: str) -> None:
        self._admin.create_topics([NewTopic(topic, PARTITIONS, 3)])[topic].result(TIMEOUT)

    def committed(self, plan: Plan) -> dict[int, int]:
        partitions = [TopicPartition(plan.topic, p) for p in range(PARTITIONS)]
        asked = ConsumerGroupTopicPartitions(plan.group, partitions)
        answer = self._admin.list_consumer_group_offsets([asked])[plan.group].result(TIMEOUT)
        return {found.partition: found.offset for found in answer.topic_partitions}


def lines(indexes: Iterable[int], separator: bytes) -> bytes:
    """Records as a producer reads them."""
    return b"".join(scenario.key(i) + separator + scenario.value(i) + b"\n" for i in indexes)


def feed(command: Sequence[str], data: bytes) -> None:
    """Run a producer."""
    done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr.decode()
