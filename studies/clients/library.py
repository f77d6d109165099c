"""A client library, which its driver speaks for."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import open_client
from mockbroker.clients.drivers.shipped import with_flags

NEWEST: Final = {"2.8": "2.8.2", "3.9": "3.9.2", "4.4": "4.4.0"}
"""Versions of kafka-clients that are tried here."""


def chosen(name: str, *others: str) -> tuple[str, str | None]:
    """A driver and a version, by names such as `java-3.9.2` (any version of kafka-clients from 2.8 on;
    `java-3.9` is the newest of its line that is known here), or one of the others. ValueError."""
    family, _, version = name.partition("-")
    if family == "java" and version:
        return family, NEWEST.get(version, version)
    if name in others:
        return name, None
    raise ValueError(f"no client {name!r}: choose {', '.join(others)}, or java-VERSION")


class Library:
    """`name` has the version. building.BuildError."""

    def __init__(self, client: str, version: str | None, flags: Sequence[str] = ()) -> None:
        """`flags` are Java's."""
        command = command_for(client, version)
        self._opened = ExitStack()
        self.driven = self._opened.enter_context(
            open_client(with_flags(command, *flags) if client == "java" else command)
        )
        self.name = self.driven.name.replace("kafka-clients", "Java")

    def stop(self) -> None:
        self._opened.close()
