"""A client with several clusters at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import trio

from mockbroker.clients.drivers import command_for, open_driver
from mockbroker.cluster_options import unchecked
from mockbroker.server.serving import ServedCluster, serve

from .story import play

Row = dict[str, str]
"""How far members of a client got, by cluster."""


def config_for(release: str) -> dict[str, str]:
    """What makes brokers of a release serve these groups, and quickly."""
    major, minor = map(int, release.split(".")[:2])
    config = {
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": "100",
    }
    if major < 4:
        config["group.coordinator.rebalance.protocols"] = "classic,consumer"
    if (major, minor) >= (4, 3):
        config["group.consumer.assignment.interval.ms"] = "0"
    return config


@asynccontextmanager
async def mocks(releases: Iterable[str]) -> AsyncIterator[dict[str, ServedCluster]]:
    async with AsyncExitStack() as stack:
        served = {
            release: await stack.enter_async_context(
                serve(kafka=unchecked(release), config=config_for(release))
            )
            for release in releases
        }
        yield served


async def row(client: str, version: str | None, addresses: Mapping[str, str]) -> Row:
    """Plays the story on all clusters at once, in one process of the client."""
    found: Row = {}

    async def cell(cluster: str, bootstrap: str) -> None:
        name = f"{client}-{version}-{cluster}".replace(" ", "-")
        found[cluster] = await play(driver, bootstrap, name)

    async with open_driver(command_for(client, version)) as driver, trio.open_nursery() as nursery:
        for cluster, bootstrap in addresses.items():
            nursery.start_soon(cell, cluster, bootstrap)
    return found
