"""Six cells of the matrix of `python -m tests.clients.matrix`: each client speaks the newest version of
ConsumerGroupHeartbeat that it and the broker have, and its members get their partitions."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from mockbroker import ClientRequest

from .matrix.cells import mocks, row
from .matrix.story import GOOD


@pytest.mark.parametrize(
    ("client", "version", "spoken"),
    [
        pytest.param("java", "3.9.2", {"3.9": 0, "4.0": 0, "4.4": 0}, marks=pytest.mark.timeout(900)),
        pytest.param("java", "4.4.0", {"3.9": 0, "4.0": 1}, marks=pytest.mark.timeout(900)),
        ("confluent-kafka", None, {"4.0": 1}),
    ],
)
@pytest.mark.trio
async def test_members_get_their_partitions(
    client: str, version: str | None, spoken: Mapping[str, int]
) -> None:
    heard: dict[str, set[int]] = {release: set() for release in spoken}
    async with mocks(spoken) as served:
        for release, cluster in served.items():

            def hear(request: ClientRequest, versions: set[int] = heard[release]) -> None:
                versions.add(request.version)

            cluster.on("ConsumerGroupHeartbeat", hear)
        addresses = {release: cluster.bootstrap_servers for release, cluster in served.items()}
        assert await row(client, version, addresses) == dict.fromkeys(spoken, GOOD)
    assert heard == {release: {version} for release, version in spoken.items()}
