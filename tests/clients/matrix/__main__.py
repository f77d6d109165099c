"""`python -m tests.clients.matrix`: releases of two clients with mocks of six releases, and real brokers.

Prints a table of how far members got, and what differs from the real broker of that release. Exit status 1 if
something does. Needs Java, Maven, and pip for other releases of confluent-kafka.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

import trio
from rich.console import Console
from rich.table import Table

from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.setup import BROKER_CONFIG

from .cells import Row, config_for, mocks, row
from .story import GOOD

JAVA: Final = ("3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0")
CONFLUENT: Final = ("2.4.0", "2.6.1", "2.8.2", "2.10.1", "2.12.2", "2.16.1")
CLIENTS: Final = (*(("java", each) for each in JAVA), *(("confluent-kafka", each) for each in CONFLUENT))
MOCKS: Final = ("3.9", "4.0", "4.1", "4.2", "4.3", "4.4")
REAL: Final = {"3.9": "3.9.2", "4.4": "4.4.0"}
out: Final = Console(highlight=False, markup=False, soft_wrap=True)


async def _run(clients: Sequence[tuple[str, str]], releases: Sequence[str], real: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for client, version in clients:
        async with mocks(releases) as served:
            addresses = {release: each.bootstrap_servers for release, each in served.items()}
            rows.append(await row(client, version, addresses))
        out.print(f"{client} {version}: {rows[-1]}")
    for release in real:
        config = {**BROKER_CONFIG, **config_for(release)}
        with RealCluster(release, config=config) as cluster:
            for (client, version), found in zip(clients, rows, strict=True):
                found |= await row(client, version, {f"real {release}": cluster.bootstrap_servers})
                out.print(f"{client} {version}, real {release}: {found[f'real {release}']}")
    return rows


def _outcomes(rows: Sequence[Row]) -> set[str]:
    return {outcome for row in rows for outcome in row.values()}


def _differences(row: Row) -> list[str]:
    return [
        f"{mock}: {row[mock]!r}, {real}: {row[f'real {real}']!r}"
        for mock, real in REAL.items()
        if mock in row and row[mock] != row[f"real {real}"]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.matrix", description=__doc__)
    parser.add_argument("--client", help="only clients whose name and version begin so: java-3.9")
    parser.add_argument("--kafka", choices=MOCKS, help="only this release")
    given = parser.parse_args()
    clients = [each for each in CLIENTS if "-".join(each).startswith(given.client or "")]
    releases = [each for each in MOCKS if given.kafka in (None, each)]
    rows = trio.run(_run, clients, releases, [REAL[each] for each in releases if each in REAL])
    titles = sorted(rows[0])
    table = Table("client", *titles)
    notes = {each: f"({number})" for number, each in enumerate(_outcomes(rows) - {GOOD}, 1)}
    for (client, version), found in zip(clients, rows, strict=True):
        table.add_row(f"{client} {version}", *(notes.get(found[each], GOOD) for each in titles))
    out.print(table)
    for outcome, note in notes.items():
        out.print(f"{note} {outcome}")
    different = 0
    for (client, version), found in zip(clients, rows, strict=True):
        for each in _differences(found):
            out.print(f"DIFFERENT {client} {version} {each}")
            different += 1
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
