"""What happens to a cluster meanwhile: verbs, what else operators do, and errors that brokers answer."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mockbroker.control import verbs
from mockbroker.errors import MockBrokerError
from mockbroker.server.serving import ServedCluster

from .stage import Outcome

_OFTEN_MS: Final = 200


async def _fault(cluster: ServedCluster, outcome: Outcome, do: str, **fields: Any) -> None:
    cluster.faults.add(do, optional=True, **fields)  # type: ignore[arg-type]


async def _delete_topic(cluster: ServedCluster, outcome: Outcome, topic: str) -> None:
    cluster.delete_topic(topic)
    outcome.deleted.add(topic)


async def _recreate_topic(cluster: ServedCluster, outcome: Outcome, topic: str) -> None:
    # Consumers may have fetched records that they have not given yet.
    outcome.was_in.setdefault(topic, []).append(cluster.records(topic))
    await _delete_topic(cluster, outcome, topic)
    planned = outcome.plan.topic(topic)
    cluster.create_topic(topic, partitions=planned.partitions, config=dict(planned.config))


async def _delete_records(cluster: ServedCluster, outcome: Outcome, topic: str, partition: int) -> None:
    await cluster.delete_records_async(topic, partition, timeout=_OFTEN_MS / 1000)


async def _pass_time(cluster: ServedCluster, outcome: Outcome, by_ms: int) -> None:
    """Sessions expire, and transactions time out, as if the client had been suspended for so long."""
    await cluster.clock.advance_async(by_ms)


_EVENTS: Final[Mapping[str, Callable[..., Awaitable[None]]]] = {
    "fault": _fault,
    "delete-topic": _delete_topic,
    "recreate-topic": _recreate_topic,
    "delete-records": _delete_records,
    "pass-time": _pass_time,
}


async def happen(cluster: ServedCluster, outcome: Outcome, do: str, fields: Mapping[str, Any]) -> str:
    """Does what `_EVENTS` or the table of verbs has. Says why, if it could not be done: a broker may be down
    already."""
    try:
        if do in _EVENTS:
            await _EVENTS[do](cluster, outcome, **fields)
        else:
            cluster.do(verbs.do, do, **fields)
    except (MockBrokerError, KeyError, TimeoutError) as error:
        return str(error)
    return ""
