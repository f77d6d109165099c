"""Incidents of replicas that are not in sync for long, of which producers with acks=1 notice nothing."""

from typing import Final

import trio

from .readers import begin
from .stage import IncidentStage, StoryError, story

_GROUPS: Final = {"billing": "java", "shipping": "sarama"}
_PATIENT: Final = {"broker.session.timeout.ms": "18000"}
"""A busy machine is no incident."""
_SLOW_S: Final = 90
_AWAY_S: Final = 640
_SHORT_S: Final = 3
_PACE_S: Final = 5.0


async def _begin(stage: IncidentStage) -> None:
    """Broker 1 leads."""
    await stage.create("orders", 2, replicas=[1, 2])
    await begin(stage, _GROUPS)
    await stage.clients.send("java", "orders", 0, 50)
    await stage.in_sync("orders")


async def _goes_on(stage: IncidentStage, seconds: float) -> None:
    """Somebody writes for so long. StoryError if a record is refused."""
    producer = await stage.clients.producer("sarama", acks="1", enable_idempotence=False)
    with trio.move_on_after(seconds if stage.caused else _SHORT_S):
        while True:
            for partition in (0, 1):
                await producer.send("orders", partition, 2)
            await trio.sleep(_PACE_S)
    if producer.failed:
        raise StoryError(producer.failed[0])


async def _ends(stage: IncidentStage) -> None:
    await stage.in_sync("orders")
    await stage.caught_up("orders", groups=_GROUPS)
    if stage.caused:
        stage.noticed("under-replicated", broker=2)


@story("broker-away", config=_PATIENT, brokers=2, libraries=("java", "sarama"), twin={})
async def broker_away(stage: IncidentStage) -> None:
    """A broker is killed, and nobody starts it again for ten minutes."""
    await _begin(stage)
    if stage.caused:
        await stage.do(stage.cluster.kill_broker, 2)
        stage.did("a broker was killed", broker=2)
    await _goes_on(stage, _AWAY_S)
    if stage.caused:
        await stage.start(2)
    await _ends(stage)


@story("follower-slow", config=_PATIENT, brokers=2, libraries=("java", "sarama"), twin={})
async def leader_walled_off(stage: IncidentStage) -> None:
    """A follower does not reach its leader, as with a firewall between brokers; the controller reaches
    both."""
    await _begin(stage)
    if stage.caused:
        stage.cluster.wall_off(1)
        stage.did("other brokers did not reach a broker any more", broker=1)
    await _goes_on(stage, _SLOW_S)
    if stage.caused:
        if stage.admin.state("orders").in_sync != (1,):
            raise StoryError("broker 2 is in sync")
        stage.cluster.reconnect(1)
        stage.did("they reached it again", broker=1)
    await _ends(stage)
