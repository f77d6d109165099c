"""What happens to a cluster meanwhile: verbs, what else operators do, and errors that brokers answer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal

from mockbroker.control import verbs
from mockbroker.control.asking import any_broker, ask, check
from mockbroker.control.target import Target
from mockbroker.errors import ConflictError, MockBrokerError
from mockbroker.metadata.records import NO_LEADER
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from mockbroker.security import HandshakeFault
from mockbroker.server.serving import ServedCluster
from mockbroker.verbs.subjects import GROUP, PARTITION, TRANSACTIONAL_ID

from ..upstream.cluster import NotWithUpstreamError
from .admission import admit
from .correspondence import outputs_of
from .plan import Loss, PlannedTopic
from .stage import Outcome

_OFTEN_MS: Final = 200
_TIMEOUT_MS: Final = 60_000


def create(cluster: ServedCluster, topic: PlannedTopic) -> None:
    """Creates a topic as its plan has it."""
    cluster.create_topic(
        topic.name,
        partitions=topic.partitions,
        replication_factor=topic.replicas,
        config=dict(topic.config),
    )


def lose(cluster: ServedCluster, broker: int, how: Loss) -> None:
    """Shuts a broker down, kills it, or has it hang: then it takes what clients send, and answers nothing.
    Nothing more happens to one that is away already."""
    with suppress(ConflictError):
        if how == "hang":
            cluster.faults.add("silence", broker=broker)
            cluster.cut_off(broker)
        elif how == "kill":
            cluster.kill_broker(broker)
        else:
            cluster.stop_broker(broker)


async def _delete_topic(cluster: ServedCluster, outcome: Outcome, topic: str) -> None:
    cluster.delete_topic(topic)
    outcome.deleted.add(topic)


async def _recreate_topic(cluster: ServedCluster, outcome: Outcome, topic: str) -> None:
    # Consumers may have fetched records that they have not given yet.
    outcome.was_in.setdefault(topic, []).append(cluster.records(topic))
    await _delete_topic(cluster, outcome, topic)
    create(cluster, outcome.plan.topic(topic))


async def _delete_records(cluster: ServedCluster, outcome: Outcome, topic: str, partition: int) -> None:
    await cluster.delete_records_async(topic, partition, timeout=_OFTEN_MS / 1000)


async def _pass_time(cluster: ServedCluster, outcome: Outcome, by_ms: int) -> None:
    """Sessions expire, and transactions time out, as if the client had been suspended for so long."""
    await cluster.clock.advance_async(by_ms)


async def _start_brokers(cluster: ServedCluster, outcome: Outcome) -> None:
    """All that are down, but for those that are lost."""
    for broker in sorted({*range(1, outcome.plan.brokers + 1)} - outcome.lost.keys()):
        with suppress(ConflictError):
            cluster.start_broker(broker)


async def _lose_broker(
    cluster: ServedCluster,
    outcome: Outcome,
    how: Loss,
    broker: int | None = None,
    *,
    for_good: bool = True,
    **of: Any,
) -> None:
    """The broker of that number, or the one that coordinates a `group` or a `transactional_id`, or leads the
    `partition` of a `topic`. If it goes `for_good`, it stays away to the end."""
    found = _in_charge(cluster, of) if broker is None else broker
    if for_good:
        _keep(outcome, [found], how)
    lose(cluster, found, how)


def _in_charge(cluster: ServedCluster, of: Mapping[str, Any]) -> int:
    kind = GROUP if "group" in of else TRANSACTIONAL_ID if "transactional_id" in of else PARTITION
    leader = cluster.run(lambda core: kind.named(core, dict(of)).leader)
    if leader == NO_LEADER:
        raise ConflictError("nobody is in charge of it")
    return int(leader)


def _keep(outcome: Outcome, brokers: Sequence[int], how: Loss) -> None:
    if outcome.lost or len(brokers) != 1:
        raise ConflictError("only one can be lost: without two, coordinators can't write")
    outcome.lost[brokers[0]] = how


async def _keep_away(cluster: ServedCluster, outcome: Outcome) -> None:
    """The broker that is down stays away to the end."""
    _keep(outcome, cluster.run(lambda core: [e.id for e in core.brokers.values() if not e.online]), "stop")


async def _lose_all(cluster: ServedCluster, outcome: Outcome, how: Literal["stop", "kill"]) -> None:
    for broker in range(1, outcome.plan.brokers + 1):
        lose(cluster, broker, how)


async def _close_idle(cluster: ServedCluster, outcome: Outcome) -> None:
    cluster.pump.sockets.close_quiet()


async def _add_partitions(cluster: ServedCluster, outcome: Outcome, topic: str, by: int) -> None:
    """An application may write each record to the partition of its output that it comes from in the input, so
    the output gets them first."""
    count = len(cluster.topic(topic).partitions) + by
    for output in outputs_of(outcome.plan, topic):
        if len(cluster.topic(output).partitions) < count:
            _widen(cluster, output, count)
    _widen(cluster, topic, count)


async def _add_topic(cluster: ServedCluster, outcome: Outcome, topic: str, partitions: int) -> None:
    replicas = outcome.plan.topics[0].replicas
    create(cluster, PlannedTopic(topic, partitions, replicas=replicas))
    outcome.appeared.add(topic)


def _widen(cluster: ServedCluster, topic: str, count: int) -> None:
    wanted = CreatePartitionsTopic(topic, count, None)

    def asked(target: Target) -> CreatePartitionsTopicResult:
        request = CreatePartitionsRequest([wanted], _TIMEOUT_MS)
        broker = any_broker(target.cluster)
        answer = ask(target.cluster, broker, ApiKey.CREATE_PARTITIONS, request, lambda answer: answer)
        return answer.result().results[0]  # type: ignore[no-any-return]

    result = cluster.do(asked)
    check(result.error_code, result.error_message, f"topic {topic!r} got no partitions")


async def _show_certificate(cluster: ServedCluster, outcome: Outcome, certificate: str) -> None:
    cluster.show_certificate(certificate)


async def _break_handshakes(
    cluster: ServedCluster, outcome: Outcome, how: HandshakeFault, times: int | None = None
) -> None:
    cluster.break_handshakes(how, times=times)


async def _admit(cluster: ServedCluster, outcome: Outcome) -> None:
    admit(cluster, outcome.plan)


_EVENTS: Final[Mapping[str, Callable[..., Awaitable[None]]]] = {
    "delete-topic": _delete_topic,
    "recreate-topic": _recreate_topic,
    "delete-records": _delete_records,
    "pass-time": _pass_time,
    "start-brokers": _start_brokers,
    "lose-broker": _lose_broker,
    "keep-away": _keep_away,
    "lose-all": _lose_all,
    "close-idle": _close_idle,
    "add-partitions": _add_partitions,
    "add-topic": _add_topic,
    "show-certificate": _show_certificate,
    "break-handshakes": _break_handshakes,
    "admit": _admit,
}


async def happen(cluster: ServedCluster, outcome: Outcome, do: str, fields: Mapping[str, Any]) -> str:
    """Does what `_EVENTS` or the table of verbs has. Says why, if it could not be done: a broker may be down
    already. NotWithUpstreamError."""
    try:
        if do in _EVENTS:
            await _EVENTS[do](cluster, outcome, **fields)
        else:
            cluster.do(verbs.do, do, **fields)
    except NotWithUpstreamError:
        raise NotWithUpstreamError(do) from None
    except (MockBrokerError, KeyError, TimeoutError) as error:
        return str(error)
    return ""
