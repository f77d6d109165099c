"""Clients of a cluster that listens, beyond those that bring their own sockets."""

from typing import Protocol

from mockbroker.rig.client import Client


class Listening(Protocol):
    @property
    def bootstrap_servers(self) -> str: ...


def address(cluster: Listening, broker: int = 1) -> tuple[str, int]:
    """Host and port; brokers count from 1, and from -1 at the end."""
    servers = cluster.bootstrap_servers.split(",")
    host, _, port = servers[broker - 1 if broker > 0 else broker].rpartition(":")
    return host, int(port)


def raw_client(
    cluster: Listening, client_id: str | None = "conformance", *, broker: int = 1, timeout_s: float = 20
) -> Client:
    """Asks one broker in any version, with dicts."""
    return Client(*address(cluster, broker), client_id, timeout_s)
