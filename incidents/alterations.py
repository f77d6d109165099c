"""Incidents of what administrators alter: settings of a topic, an ACL, a reassignment, the address of a
broker, how many connections an address may have."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import trio

from .clients import ClientError
from .memberships import meanwhile
from .readers import begin
from .refusals import GIVES_UP, in_vain
from .stage import IncidentStage, StoryError, story

_LONG_S: Final = 66
_PACE_S: Final = 2.0
_READ: Final = 3
_GROUP: Final = 3
_LITERAL: Final = 3
_ALLOW: Final = 3


@story("records-invalid", brokers=1, libraries=("java", "sarama"), twin={})
async def keys_missing(stage: IncidentStage) -> None:
    """Somebody has a topic compacted whose producers write records without keys: they are refused."""
    await stage.create("orders")
    await stage.clients.member("sarama", "billing", ["orders"])
    for library in ("java", "sarama"):
        await stage.clients.send(library, "orders", 0, 20)
    policy = "compact" if stage.caused else "delete"
    await stage.do(stage.admin.alter, "orders", cleanup_policy=policy)
    stage.did("a topic was altered", topic="orders", setting="cleanup.policy", value=policy)
    await in_vain(
        stage,
        [await stage.clients.producer(each, **GIVES_UP) for each in ("java", "sarama")],
        "producer-refused",
    )
    await stage.do(stage.admin.alter, "orders", cleanup_policy="delete")
    await stage.caught_up("orders", groups=["billing"])


@story("too-few-in-sync", brokers=2, libraries=("franz-go", "java"), twin={})
async def min_isr_raised(stage: IncidentStage) -> None:
    """While a broker is down for maintenance, min.insync.replicas of a topic is set to more than are in sync:
    producers with acks=all, which had gone on, are refused."""
    await stage.create("orders", replicas=[1, 2])
    await stage.clients.member("franz-go", "billing", ["orders"])
    await stage.clients.send("franz-go", "orders", 0, 50)
    await stage.stop(2)
    await stage.until("an ISR of broker 1", lambda: stage.admin.state("orders").in_sync == (1,))
    await stage.clients.send("franz-go", "orders", 0, 50)
    number = "2" if stage.caused else "1"
    await stage.do(stage.admin.alter, "orders", min_insync_replicas=number)
    stage.did("a topic was altered", topic="orders", setting="min.insync.replicas", value=number)
    await in_vain(
        stage,
        [await stage.clients.producer(each, **GIVES_UP) for each in ("franz-go", "java")],
        "producers-refused",
    )
    await stage.do(stage.admin.alter, "orders", min_insync_replicas="1")
    await stage.clients.send("franz-go", "orders", 0, 20)
    await stage.caught_up("orders", groups=["billing"])
    await stage.start(2)


@story(
    "not-authorized",
    brokers=1,
    libraries=("java", "kafka-python"),
    config={
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    },
    twin={},
)
async def acl_locks_out(stage: IncidentStage) -> None:
    """A group gets its first ACL, for one user: all others, who had been allowed because there was none, are
    refused from then on."""
    groups = {"billing": "java", "shipping": "kafka-python"}
    await stage.create("orders")
    await begin(stage, groups)
    await stage.clients.send("java", "orders", 0, 50)
    await stage.caught_up("orders", groups=groups)
    group = "billing" if stage.caused else "archive"
    await stage.do(_allow, stage, group)
    stage.did("a group got its first ACL", group=group, user="User:billing-app")
    await meanwhile(stage, "java", "orders", 0)
    await stage.caught_up("orders", groups=["shipping"] if stage.caused else groups)
    if stage.caused:
        member = next(each for each in stage.clients.members if each.group == "billing")
        stage.did("a member was refused", group="billing", client=member.handle, error=member.refused[0])
        stage.noticed("member-refused", group="billing", client=member.handle)


def _allow(stage: IncidentStage, group: str) -> None:
    binding = {
        "resource_type": _GROUP,
        "resource_name": group,
        "resource_pattern_type": _LITERAL,
        "principal": "User:billing-app",
        "host": "*",
        "operation": _READ,
        "permission_type": _ALLOW,
    }
    (result,) = stage.admin.ask(1, "create_acls", 2, {"creations": [binding]})["results"]
    if result["error_code"] != "NONE":
        raise StoryError(str(result))


@story("reassignment-stuck", libraries=("sarama",), twin={})
async def reassignment_stuck(stage: IncidentStage) -> None:
    """A partition is to move to a broker that is down: its reassignment does not end."""
    await stage.create("orders", replicas=[1, 2])
    await stage.clients.member("sarama", "billing", ["orders"])
    await stage.clients.send("sarama", "orders", 0, 100)
    if stage.caused:
        await stage.stop(3)
    await stage.do(stage.admin.reassign, "orders", {0: [1, 3]})
    stage.did("a reassignment was begun", topic="orders", partition=0, replicas=[1, 3])
    await meanwhile(stage, "sarama", "orders", 0)
    in_sync = stage.admin.state("orders").in_sync
    if stage.caused:
        if in_sync != (1, 2):
            raise StoryError(f"the ISR is {in_sync}")
    else:
        await stage.until("the move", lambda: stage.admin.state("orders").in_sync == (1, 3))
        stage.did("a reassignment was done", topic="orders", partition=0)
    await stage.caught_up("orders", groups=["billing"])


@story(
    "broker-unresolved",
    brokers=2,
    config={"offsets.topic.num.partitions": "1"},
    libraries=("java", "confluent-kafka", "franz-go"),
    twin={},
)
async def advertised_wrong(stage: IncidentStage) -> None:
    """A broker is restarted with a name in advertised.listeners that clients can't resolve: what it leads
    can't be written or read."""
    groups = {"billing": "java", "shipping": "confluent-kafka", "reports": "franz-go"}
    await stage.do(stage.admin.create, "orders", 2, replicas=[1, 2])
    await stage.until("leaders", lambda: len(stage.admin.states("orders")) == 2)
    await begin(stage, groups)
    for partition in (0, 1):
        await stage.clients.send("java", "orders", partition, 30)
    await stage.caught_up("orders", groups=groups)
    await stage.do(stage.admin.reassign, "orders", {1: [2, 1]})
    await stage.until("both in sync", lambda: stage.admin.state("orders", 1).in_sync == (1, 2))
    await stage.stop(2)
    if stage.caused:
        stage.cluster.advertise(2, "broker2.kafka.internal")
        stage.did("a broker got another address", broker=2, address="broker2.kafka.internal")
    await stage.start(2)
    await stage.until("all in sync", lambda: stage.admin.ready("orders", "__consumer_offsets"))
    await stage.do(stage.admin.elect_preferred, "orders", 1)
    await stage.led("orders", 2, 1)
    stage.did("a broker leads a partition again", broker=2, topic="orders", partition=1)
    producers = {each: await stage.clients.producer(each, **GIVES_UP) for each in groups.values()}
    with trio.move_on_after(_LONG_S if stage.caused else _PACE_S):
        while True:
            for each in producers.values():
                for partition in (0, 1):
                    await each.send("orders", partition, 2)
            await trio.sleep(_PACE_S)
    for each in producers.values():
        if bool(each.failed) != stage.caused:
            raise StoryError(f"{each.handle}: {each.failed}")
        if stage.caused:
            stage.did("records timed out", client=each.handle, count=len(each.failed), error=each.failed[0])
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)
        return
    stage.noticed("broker-unresolved", broker=2)


@story(
    "connections-rejected",
    brokers=1,
    config={"max.connections.per.ip": "30"},
    libraries=("kafkajs",),
    twin={"max.connections.per.ip": "2147483647"},
)
async def connections_limited(stage: IncidentStage) -> None:
    """An application leaks connections until its address has as many as max.connections.per.ip: whoever else
    connects from there is rejected."""
    await stage.create("orders")
    first = await stage.clients.member("kafkajs", "billing", ["orders"])
    await stage.clients.send("kafkajs", "orders", 0, 50)
    await stage.caught_up("orders", groups=["billing"])
    await stage.clients.leave(first)
    with _leak(stage.cluster.clients[1].port) as count:
        stage.did("connections were leaked", count=count)
        if not stage.caused:
            await stage.clients.member("kafkajs", "billing", ["orders"])
        else:
            told: list[str] = []
            with trio.move_on_after(_LONG_S):
                while True:
                    try:
                        await stage.clients.joined("kafkajs", "billing", ["orders"])
                        break
                    except ClientError as error:
                        told.append(str(error))
                    await stage.clients.send("kafkajs", "orders", 0, 5)
                    await trio.sleep(_PACE_S)
            stage.did("clients were rejected", count=len(told), error=told[0] if told else "")
            stage.noticed("connections-rejected", broker=1)
    await stage.clients.send("kafkajs", "orders", 0, 5)
    if stage.caused:
        await stage.clients.member("kafkajs", "billing", ["orders"])
    await stage.caught_up("orders", groups=["billing"])


@contextmanager
def _leak(port: int, most: int = 40) -> Iterator[int]:
    """Connections that nobody closes, until one is rejected; how many there are."""
    with ExitStack() as opened:
        count = 0
        for _ in range(most):
            one = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.settimeout(0.3)
            try:
                if one.recv(1) == b"":
                    break
            except TimeoutError:
                count += 1
        yield count
