# Driver: aiokafka, of the package aiokafka
"""aiokafka. Its calls have no timeouts: they are given one by asyncio.wait_for, as applications do."""

import asyncio
import json
import os
import threading
from collections.abc import Collection, Coroutine, Iterable
from inspect import signature
from typing import Any, ClassVar

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition, codec
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import for_code
from aiokafka.helpers import create_ssl_context
from lines import (
    ADMIN,
    ASSIGNOR,
    Call,
    Fields,
    Lines,
    codecs,
    configured,
    described,
    deserializer,
    log_as_applications_do,
    method_of,
    named,
    record,
    settings_of,
    taking,
    unsecured_token,
    wanted,
)

log_as_applications_do("aiokafka", "asyncio")
_OPEN_MS = 30_000
ASSIGNORS = (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor)
_FILES = ("cafile", "certfile", "keyfile")


class Tokens(AbstractTokenProvider):
    def __init__(self, claims: str) -> None:
        self._claims = claims

    async def token(self) -> str:
        token: str = unsecured_token(self._claims)
        return token


def secured(config: Fields, assignors: Iterable[Any] = ()) -> Fields:
    """As `configured`; files of certificates become the context that the library takes."""
    given = configured(config, assignors)
    files = {name: given.pop(f"ssl_{name}", None) for name in _FILES}
    if str(given.get("security_protocol", "")).endswith("SSL"):
        given["ssl_context"] = create_ssl_context(**files)
    if claims := given.pop("sasl_oauth_token_provider", None):
        given["sasl_oauth_token_provider"] = Tokens(claims)
    return given


class Handle:
    settings: ClassVar[Collection[str]]

    def __init__(self, name: str, lines: Lines, fields: Fields) -> None:
        self._name, self._lines, self.fields = name, lines, fields
        self._goes_on = asyncio.Event()
        self._stops_at: Collection[str] = ()
        self.stopped = False
        """Whether it waits for `go-on`: then calls are made at once, as a poll may wait for the rebalance."""

    async def event(self, event: str, **fields: Any) -> None:
        """Writes an event. At one of `stops_at` the calls that follow are made meanwhile, up to `go-on`."""
        self._goes_on.clear()
        self.stopped = event in self._stops_at
        self._lines.write(event=event, handle=self._name, **fields)
        if self.stopped:
            await self._goes_on.wait()
            self.stopped = False

    async def go_on(self) -> None:
        self._goes_on.set()


class Producer(Handle):
    settings = named(signature(AIOKafkaProducer).parameters)

    async def start(self) -> None:
        self.producer = AIOKafkaProducer(**secured(self.fields["config"]))
        await self.producer.start()

    async def produce(self, call: Call, topic: str, partition: int | None, **content: Any) -> None:
        sent = await self.producer.send(topic, partition=partition, **content)
        sent.add_done_callback(lambda sent: _tell(call, sent))

    async def flush(self) -> None:
        await self.producer.flush()

    async def begin(self) -> None:
        await self.producer.begin_transaction()

    async def send_offsets(self, offsets: list[list[Any]], consumer: str) -> None:
        given = {TopicPartition(topic, partition): at for topic, partition, at in offsets}
        group = OPEN[consumer].fields["config"]["group.id"]
        await self.producer.send_offsets_to_transaction(given, group)

    async def commit_transaction(self) -> None:
        await self.producer.commit_transaction()

    async def abort_transaction(self) -> None:
        await self.producer.abort_transaction()

    async def close(self) -> None:
        await self.producer.stop()


def _tell(call: Call, sent: "asyncio.Future[Any]") -> None:
    if sent.cancelled():
        call.fail(asyncio.CancelledError())
    elif (error := sent.exception()) is not None:
        call.fail(error)
    else:
        call.answer({"partition": sent.result().partition, "offset": sent.result().offset})


class Consumer(Handle):
    settings = named(signature(AIOKafkaConsumer).parameters)

    async def start(self) -> None:
        value = deserializer(self.fields.get("fails_on"))
        config = secured(self.fields["config"], ASSIGNORS)
        self.consumer = AIOKafkaConsumer(value_deserializer=value, **config)
        await self.consumer.start()

    async def subscribe(self, topics: list[str], stops_at: Collection[str] = ()) -> None:
        self._stops_at = stops_at
        self.consumer.subscribe(**wanted(topics), listener=_Listener(self))

    async def assign(self, partitions: list[list[Any]]) -> None:
        self.consumer.assign([TopicPartition(*each[:2]) for each in partitions])
        for topic, partition, *offset in partitions:
            if offset:
                self.consumer.seek(TopicPartition(topic, partition), offset[0])

    async def poll(self, timeout_ms: int) -> Fields:
        found = await self.consumer.getmany(timeout_ms=timeout_ms)
        read = [each for records in found.values() for each in records]
        return {"records": [record(r.topic, r.partition, r.offset, r.key, r.value, r.headers) for r in read]}

    async def commit(self, offsets: list[list[Any]] | None = None) -> None:
        given = {TopicPartition(topic, partition): at for topic, partition, at in offsets or ()}
        await self.consumer.commit(given or None)

    async def committed(self, partitions: list[list[Any]]) -> Fields:
        return {
            "offsets": [[*each, await self.consumer.committed(TopicPartition(*each))] for each in partitions]
        }

    async def position(self, partitions: list[list[Any]]) -> Fields:
        return {
            "offsets": [[*each, await self.consumer.position(TopicPartition(*each))] for each in partitions]
        }

    async def seek(self, topic: str, partition: int, offset: int | None = None, to: str = "") -> None:
        at = TopicPartition(topic, partition)
        if offset is not None:
            self.consumer.seek(at, offset)
        elif to == "beginning":
            await self.consumer.seek_to_beginning(at)
        else:
            await self.consumer.seek_to_end(at)

    async def offsets_for_times(self, partitions: list[list[Any]]) -> Fields:
        asked = {TopicPartition(topic, partition): at_ms for topic, partition, at_ms in partitions}
        found = await self.consumer.offsets_for_times(asked)
        return {"offsets": [[*at, None if each is None else each.offset] for at, each in found.items()]}

    async def pause(self, partitions: list[list[Any]]) -> None:
        self.consumer.pause(*[TopicPartition(*each) for each in partitions])

    async def resume(self, partitions: list[list[Any]]) -> None:
        self.consumer.resume(*[TopicPartition(*each) for each in partitions])

    async def close(self) -> None:
        await self.consumer.stop()


class Admin(Handle):
    settings = named(signature(AIOKafkaAdminClient).parameters)

    async def start(self) -> None:
        self.admin = AIOKafkaAdminClient(**secured(self.fields["config"]))
        await self.admin.start()

    async def create_topic(self, topic: str, partitions: int, replication_factor: int) -> None:
        answer = await self.admin.create_topics([NewTopic(topic, partitions, replication_factor)])
        _check(code for _, code, *_ in answer.topic_errors)

    async def create_partitions(self, topic: str, partitions: int) -> None:
        answer = await self.admin.create_partitions({topic: NewPartitions(partitions)})
        _check(code for _, code, *_ in answer.topic_errors)

    async def delete_topic(self, topic: str) -> None:
        answer = await self.admin.delete_topics([topic])
        _check(code for _, code, *_ in answer.topic_error_codes)

    async def alter_config(self, topic: str, name: str, to: str) -> None:
        of_topic = ConfigResource(ConfigResourceType.TOPIC, topic, {name: to})
        (answer,) = await self.admin.alter_configs([of_topic])
        _check(code for code, *_ in answer.resources)

    async def describe_config(self, topic: str, name: str) -> Fields:
        of_topic = ConfigResource(ConfigResourceType.TOPIC, topic, {name: None})
        (answer,) = await self.admin.describe_configs([of_topic])
        _check(code for code, *_ in answer.resources)
        ((*_, configs),) = answer.resources
        return {"value": next(value for found, value, *_ in configs if found == name)}

    async def delete_records(self, topic: str, partition: int, offset: int) -> Fields:
        at = TopicPartition(topic, partition)
        return {"offset": (await self.admin.delete_records({at: RecordsToDelete(offset)}))[at]}

    async def close(self) -> None:
        await self.admin.close()


def _check(codes: Iterable[int]) -> None:
    for code in codes:
        if code:
            raise for_code(code)


class _Listener(ConsumerRebalanceListener):
    def __init__(self, told: Handle) -> None:
        self._told = told

    async def on_partitions_assigned(self, assigned: Any) -> None:
        await self._told.event("assigned", partitions=sorted(map(list, assigned)))

    async def on_partitions_revoked(self, revoked: Any) -> None:
        await self._told.event("revoked", partitions=sorted(map(list, revoked)))


OPEN: dict[str, Any] = {}
KINDS: dict[str, type[Any]] = {"producer": Producer, "consumer": Consumer, "admin": Admin}


TASKS: set["asyncio.Task[None]"] = set()


def start(doing: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(doing)
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)


async def run(calls: "asyncio.Queue[Call]", lines: Lines) -> None:
    while True:
        call = await calls.get()
        if call.at_once:
            start(make(call, lines))
        else:
            await make(call, lines)
        if call.verb == "close":
            del OPEN[call.handle]
            return


async def make(call: Call, lines: Lines) -> None:
    try:
        if call.verb == "open":
            handle = KINDS[call.fields.pop("kind")](call.handle, lines, call.fields)
            OPEN[call.handle] = handle
            await asyncio.wait_for(handle.start(), _OPEN_MS / 1000)
            call.answer()
            return
        method = method_of(OPEN.get(call.handle), call)
        if call.verb == "produce":
            await method(call, **call.fields)
        elif call.verb == "poll":
            call.answer(await method(**call.fields))
        else:
            limit_ms = call.fields.pop("timeout_ms", None)
            made = method(**call.fields)
            call.answer(await asyncio.wait_for(made, None if limit_ms is None else limit_ms / 1000))
    except (Exception, asyncio.CancelledError) as error:
        call.fail(error, raised=True)


async def serve(lines: Lines) -> None:
    loop = asyncio.get_running_loop()
    queues: dict[str, asyncio.Queue[Call]] = {}

    def take(line: str) -> None:
        call = Call(lines, json.loads(line), described)
        if call.handle in OPEN and OPEN[call.handle].stopped:
            start(make(call, lines))
            return
        if call.handle not in queues:
            queues[call.handle] = asyncio.Queue()
            start(run(queues[call.handle], lines))
        queues[call.handle].put_nowait(call)
        if call.verb == "close":
            del queues[call.handle]

    def read() -> None:
        for line in lines.requests:
            loop.call_soon_threadsafe(take, line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    lines.hello(
        f"aiokafka {aiokafka.__version__}",
        (
            "groups",
            "assign",
            "group-assign",
            "transactions",
            "send-offsets",
            "idempotence",
            "deserializer",
            "headers",
            "null-headers",
            "admin",
            "pause",
            "patterns",
            "resubscribe",
            "at-once",
            "ends-at-once",
            "commit-at-once",
            "create-partitions",
            "seek",
            "offsets-for-times",
            *(name for name in ADMIN if name != "list-offsets"),
            *codecs(codec),
            *taking(ASSIGNOR, [each.name for each in ASSIGNORS]),
        ),
        settings_of(KINDS),
    )
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Lines()))
