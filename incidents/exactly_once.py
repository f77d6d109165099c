"""Applications that work exactly once: nothing happens to them, and their files are copied while they run."""

from contextlib import AsyncExitStack
from typing import Final

from .clients import Member
from .cluster import BROKERS
from .stage import IncidentStage, story
from .streams import APPLICATION, CHANGELOG, REPARTITION, instance

_PARTITIONS: Final = 2
_CONFIG: Final = {"broker.session.timeout.ms": "18000", "replica.lag.time.max.ms": "30000"}
"""A busy machine is no incident."""
_WORKERS: Final = {"java": "pricing", "confluent-kafka": "packing"}
"""The group of each library that has transactions."""
_STREAMS: Final = {"2.8.2": "3.9.2"}
"""Of releases whose Streams have no exactly_once_v2, another one."""


async def _restart(stage: IncidentStage, node: int, *topics: str) -> None:
    await stage.stop(node)
    await stage.more(topics[0], 30)
    await stage.start(node)
    await stage.in_sync(*topics, transactions=True)
    await stage.more(topics[0], 30)


async def _worker(stage: IncidentStage, library: str) -> Member:
    return await stage.clients.worker(library, _WORKERS[library], "orders", "invoices")


@story(config=_CONFIG, topics=("orders", "invoices"), since=(2, 8))
async def exactly_once(stage: IncidentStage) -> None:
    """Applications read, write and commit offsets in transactions; members come and go, brokers restart."""
    for topic in ("orders", "invoices"):
        await stage.create(topic, _PARTITIONS)
    await stage.groups(["invoices"], isolation_level="read_committed")
    async with stage.traffic("orders", _PARTITIONS):
        workers = {library: await _worker(stage, library) for library in _WORKERS}
        await stage.more("orders", 60)
        joined = [await _worker(stage, library) for library in _WORKERS]
        await stage.more("orders", 60)
        await stage.clients.leave(*joined)
        for node in BROKERS:
            # Its call may hang for good if the coordinator moves while it sends offsets to it (2.16.1).
            await stage.clients.leave(workers["confluent-kafka"])
            await _restart(stage, node, "orders", "invoices")
            workers["confluent-kafka"] = await _worker(stage, "confluent-kafka")
        await stage.more("orders", 60)
        await stage.do(stage.copy)
    await stage.caught_up("orders", groups=_WORKERS.values())


@story(config=_CONFIG, topics=("counts",), since=(2, 8))
async def streams(stage: IncidentStage) -> None:
    """Kafka Streams counts words with exactly_once_v2; instances come and go, brokers restart."""
    for topic in ("lines", "counts"):
        await stage.create(topic, _PARTITIONS)
    await stage.groups(["counts"], isolation_level="read_committed")
    servers, release = stage.cluster.bootstrap_servers, stage.cluster.release
    version = _STREAMS.get(release, release)
    async with AsyncExitStack() as opened, stage.traffic("lines", _PARTITIONS):
        instances = [
            await opened.enter_async_context(instance(servers, version, name, "lines", "counts", stage.logs))
            for name in ("counter-1", "counter-2")
        ]
        await stage.until("instances that run", lambda: all(each.running() for each in instances))
        await stage.more("lines", 60)
        for node in BROKERS:
            await _restart(stage, node, "lines", "counts", REPARTITION, CHANGELOG)
        await instances[1].leave()
        stage.did("an instance left", group=APPLICATION)
        await stage.more("lines", 60)
        await stage.do(stage.copy)
