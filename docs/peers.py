"""The versions that other mocks advertise: `python -m docs.peers` asks them, which needs Go."""

import json
from collections.abc import Sequence
from datetime import date
from typing import Final

import confluent_kafka

from benchmarks import kfake
from benchmarks.apis import api_versions
from benchmarks.peers import PEERS, started
from benchmarks.wire import Connection

from .apis import MEASURED

_TITLES: Final = {
    "kfake": f"kfake of {date.fromisoformat(kfake.VERSION.split('-')[1][:8])}",
    "librdkafka-mock": f"librdkafka's mock {confluent_kafka.libversion()[0]}",
}


def asked(command: Sequence[str]) -> dict[int, list[int]]:
    """The lowest and the highest version of each API, by key."""
    with started(list(command)) as running, Connection(running.address) as connection:
        return {key: [low, high] for key, low, high in sorted(api_versions(connection))}


def main() -> None:
    found = {
        _TITLES[peer.name]: asked(peer.commands().by_brokers[1]) for peer in PEERS if peer.name in _TITLES
    }
    lines = ",\n".join(f" {json.dumps(title)}: {json.dumps(versions)}" for title, versions in found.items())
    MEASURED.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
