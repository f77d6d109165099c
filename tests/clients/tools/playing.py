"""Plays a session in a cluster, real or not."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Final

from confluent_kafka.admin import AdminClient

from mockbroker.rig.setup import BROKER_CONFIG, QUICK_CONFIG

from ..scenario import TIMEOUT
from . import session
from .actions import Actions, Cluster
from .programs import Programs
from .shown import shown

RELEASE: Final = "4.3"
BROKERS = 3
CONFIG = {
    **BROKER_CONFIG,
    **QUICK_CONFIG,
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",
}


def play(name: str, cluster: Cluster, programs: Programs, pause: Callable[[], None] = lambda: None) -> str:
    """The session as it is with that cluster. `pause` waits until brokers know of changes."""
    addresses = cluster.bootstrap_servers.split(",")
    cluster_id = AdminClient({"bootstrap.servers": addresses[0]}).list_topics(timeout=TIMEOUT).cluster_id
    assert cluster_id is not None
    actions = Actions(cluster, programs.folder)

    def run(command: str) -> list[str]:
        pause()
        lines, status = programs.run(",".join(addresses), shlex.split(command))
        return shown(lines, addresses, cluster_id) + ([f"= {status}"] if status else [])

    try:
        return session.played(session.path(name).read_text(), actions, run)
    finally:
        actions.close()
