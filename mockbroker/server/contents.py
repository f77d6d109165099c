"""Looks into a running cluster, and writes to it, for tests."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from ..cluster.replicas import PATIENCE_S
from ..errors import WaitTimeoutError
from . import waiting
from .calls import Calls
from .waiting import WAIT_S

if TYPE_CHECKING:
    from ..contents.values import (
        CommittedOffset,
        GroupDescription,
        IsolationLevel,
        Record,
        SharePartitionDescription,
        TelemetryClient,
        TopicDescription,
        TransactionDescription,
    )
    from ..control.producing import Content, Headers
    from ..control.target import Target

# Most clusters are never looked into, so these calls import what they need.

__tracebackhide__ = True


class Given(TypedDict, total=False):
    """What `produce` takes besides topic and value."""

    key: "Content"
    headers: "Headers"
    timestamp_ms: int | None
    partition: int | None
    acks: Literal[-1, 1]
    timeout: float


class Wanted(TypedDict, total=False):
    """What `wait_for_group` waits for."""

    state: str
    members: int
    assigned: int


class Contents(Calls):
    """Calls that show what clients have written and committed, and that do what clients and Kafka's tools do.
    They need no client, and faults do not affect them."""

    def create_topic(
        self,
        topic: str,
        *,
        partitions: int | None = None,
        replication_factor: int | None = None,
        config: Mapping[str, str] | None = None,
        replica_assignment: Sequence[Sequence[int]] | None = None,
    ) -> "TopicDescription":
        """Creates a topic as CreateTopics does. What is left out is the broker's `num.partitions` and
        `default.replication.factor`; `replica_assignment` has the brokers of each partition instead, its
        leader first. RefusedError with Kafka's error and its reason."""
        from ..control import topics

        assignment = replica_assignment or ()
        return self.do(topics.create_topic, topic, partitions, replication_factor, config or {}, assignment)

    def delete_topic(self, topic: str) -> "TopicDescription":
        """Deletes a topic as DeleteTopics does, and returns what it was. NotThereError; RefusedError."""
        from ..control import topics

        return self.do(topics.delete_topic, topic)

    def topics(self, *, internal: bool = False) -> "dict[str, TopicDescription]":
        """Every topic by name, in order; with `internal`, Kafka's internal topics too."""
        from ..control import topics

        return self.do(topics.topics, internal=internal)

    def topic(self, topic: str) -> "TopicDescription":
        """One topic, which may be an internal one. NotThereError."""
        from ..control import topics

        return self.do(topics.topic_named, topic)

    def produce(
        self,
        topic: str,
        value: "Content",
        *,
        key: "Content" = None,
        headers: "Headers" = (),
        timestamp_ms: int | None = None,
        partition: int | None = None,
        acks: Literal[-1, 1] = -1,
        timeout: float = PATIENCE_S,
    ) -> "Record":
        """Appends a record as a producer without idempotence does, and returns it as it is in the log.

        Text is written as UTF-8. `partition` defaults to the one that Kafka's own producer chooses for the
        key, or without key to the first that has a leader. With `acks=-1` it returns when all in-sync
        replicas have the record, at most `timeout` seconds later. A topic that does not exist is created if
        `auto.create.topics.enable` allows it, else NotThereError. RefusedError with Kafka's error and its
        reason; ValueError.
        """
        from ..control.producing import begin_produce

        begun = self.do(
            begin_produce, topic, value, key, headers, timestamp_ms, partition, acks=acks, timeout=timeout
        )
        return self._result(begun)

    async def produce_async(self, topic: str, value: "Content", **given: Unpack[Given]) -> "Record":
        """As `produce`; other tasks run while it waits for followers."""
        from ..control.producing import begin_produce

        return await self._result_async(await self._do_async(begin_produce, topic, value, **given))

    def records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        isolation_level: "IsolationLevel | None" = None,
        broker: int | None = None,
        offset: int = 0,
        control: bool = False,
    ) -> "list[Record]":
        """The records of a topic by partition and offset, from `offset` on.

        Without isolation level it returns everything that is stored up to the log end offset, including
        records of open and aborted transactions. With one it returns what such a consumer gets: up to the
        high watermark (`read_uncommitted`), or up to the last stable offset without aborted records
        (`read_committed`). With `control` it includes transaction markers. It reads the log of the leader, or
        of the last leader if there is none, or the replica on `broker`. NotThereError for a topic, a
        partition or a replica.
        """
        from ..control import records

        def found(target: "Target") -> "list[Record]":
            return list(records.records(target, topic, partition, isolation_level, broker, offset, control))

        return self.do(found)

    def delete_records(
        self, topic: str, partition: int, before: int | None = None, *, timeout: float = PATIENCE_S
    ) -> int:
        """Deletes the records below offset `before`, or below the high watermark, as DeleteRecords does.

        Returns the low watermark once all replicas on live brokers have deleted, at most `timeout` seconds
        later. NotThereError; RefusedError.
        """
        from ..control.producing import begin_delete

        return self._result(self.do(begin_delete, topic, partition, before, timeout))

    async def delete_records_async(
        self, topic: str, partition: int, before: int | None = None, *, timeout: float = PATIENCE_S
    ) -> int:
        """As `delete_records`; other tasks run while it waits for followers."""
        from ..control.producing import begin_delete

        return await self._result_async(await self._do_async(begin_delete, topic, partition, before, timeout))

    def groups(self) -> "dict[str, GroupDescription]":
        """Every group by its id, in order."""
        from ..control import groups

        return self.do(groups.groups)

    def group(self, group: str) -> "GroupDescription":
        """One group. NotThereError."""
        from ..control import groups

        return self.do(groups.group_named, group)

    def wait_for_group(
        self, group: str, timeout: float = WAIT_S, **wanted: Unpack[Wanted]
    ) -> "GroupDescription":
        """Waits until a group is there, and is as it is to be: `wait_for_group("billing", state="Stable",
        members=2, assigned=6)`, where `assigned` is how many partitions its members have in all.

        WaitTimeoutError after `timeout` seconds says how it is instead; OptionError for a state that no group
        has; BlockingCallError where asyncio or trio runs: await `wait_for_group_async` there.
        """
        from ..control.group_waits import LOOK_S, Awaited

        self._refuse_to_block("cluster.wait_for_group_async(...)")
        awaited = Awaited(group, **wanted)
        found = waiting.found(lambda: self.do(awaited.found), LOOK_S, timeout)
        if found is None:
            raise WaitTimeoutError(self.do(awaited.missed, timeout))
        return found

    async def wait_for_group_async(
        self, group: str, timeout: float = WAIT_S, **wanted: Unpack[Wanted]
    ) -> "GroupDescription":
        """Like `wait_for_group`, under asyncio and trio."""
        from ..control.group_waits import LOOK_S, Awaited

        awaited = Awaited(group, **wanted)
        found = await waiting.found_async(lambda: self._do_async(awaited.found), LOOK_S, timeout)
        if found is None:
            raise WaitTimeoutError(await self._do_async(awaited.missed, timeout))
        return found

    def committed(self, group: str) -> "dict[tuple[str, int], CommittedOffset]":
        """What a group has committed, by topic and partition: `committed("billing")["orders", 0].offset`.

        Offsets of a transaction are included once it is committed. NotThereError for an unknown group; the
        dict is empty for a group that has committed nothing.
        """
        from ..control import groups

        return self.do(groups.committed, group)

    def configure_group(self, group: str, config: Mapping[str, str]) -> None:
        """Sets the configuration of a group, which need not be there yet, as IncrementalAlterConfigs does:
        `configure_group("jobs", {"share.auto.offset.reset": "earliest"})`. RefusedError with Kafka's error
        and its reason; ConflictError for a release without configurations of groups."""
        from ..control import groups

        self.do(groups.configure_group, group, config)

    def alter_offset(self, group: str, topic: str, partition: int, offset: int) -> None:
        """Sets where a group without members goes on in a partition: `alter_offset("jobs", "orders", 0, 5)`.
        A share group begins anew there; any other group, which need not be there yet, commits the offset.
        NotThereError for a topic or a partition; RefusedError with Kafka's error, for example if the group
        has members."""
        from ..control.group_offsets import begin_alter_offset

        self._result(self.do(begin_alter_offset, group, topic, partition, offset))

    async def alter_offset_async(self, group: str, topic: str, partition: int, offset: int) -> None:
        """As `alter_offset`; other tasks run while it waits for followers."""
        from ..control.group_offsets import begin_alter_offset

        return await self._result_async(
            await self._do_async(begin_alter_offset, group, topic, partition, offset)
        )

    def share_group(self, group: str) -> "dict[tuple[str, int], SharePartitionDescription]":
        """What a share group has in flight, by topic and partition: `share_group("work")["orders", 0]` has
        its start offset, and the states of records from there on. NotThereError for a group that is not a
        share group."""
        from ..control import groups

        return self.do(groups.share_group, group)

    def transactions(self) -> "dict[str, TransactionDescription]":
        """Every transactional id and the state of its transaction, in order of the ids."""
        from ..control import transactions

        return self.do(transactions.transactions)

    def transaction(self, transactional_id: str) -> "TransactionDescription":
        """One transactional id. NotThereError."""
        from ..control import transactions

        return self.do(transactions.transaction_named, transactional_id)

    def telemetry(self) -> "tuple[TelemetryClient, ...]":
        """The clients that asked a broker which metrics to push, with what they have pushed (KIP-714)."""
        from ..control import telemetry

        return self.do(telemetry.telemetry)
