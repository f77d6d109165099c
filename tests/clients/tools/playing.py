"""Plays a session in a cluster, real or not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka.admin import AdminClient

from mockbroker.rig.setup import BROKER_CONFIG, QUICK_CONFIG
from mockbroker.security import AUTHORIZER

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


LOGIN: Final = "login/"
"""Sessions whose names begin so are for brokers to which clients log in that have a `--command-config`."""
LOGIN_CONFIG: Final = {
    "authorizer.class.name": AUTHORIZER,
    "super.users": "User:ANONYMOUS;User:alice",
    "delegation.token.secret.key": "the secret key of tokens",
}
_MADE: Final = re.compile(r"  (?P<token>\S{22}) +(?P<hmac>\S{86}==) ")
"""A row that tells of a token."""


def play(
    name: str,
    cluster: Cluster,
    programs: Programs,
    logins: Sequence[str] = (),
    pause: Callable[[], None] = lambda: None,
) -> str:
    """The session as it is with that cluster, which has the addresses `logins` for clients that log in.
    `pause` waits until brokers know of changes."""
    addresses = cluster.bootstrap_servers.split(",")
    cluster_id = AdminClient({"bootstrap.servers": addresses[0]}).list_topics(timeout=TIMEOUT).cluster_id
    assert cluster_id is not None
    actions = Actions(cluster, programs.folder)
    made: dict[str, str] = {}

    def meant(line: str) -> str:
        for each, value in made.items():
            line = line.replace(f"<{each}>", value)
        return line

    def run(command: str) -> list[str]:
        pause()
        servers = logins if logins and "--command-config" in command else addresses
        lines, status = programs.run(",".join(servers), shlex.split(meant(command)))
        if "--create" in command:
            made.update(
                each for line in lines if (row := _MADE.match(line)) for each in row.groupdict().items()
            )
        return shown(lines, [*addresses, *logins], cluster_id) + ([f"= {status}"] if status else [])

    try:
        return session.played(session.path(name).read_text(), lambda line: actions(meant(line)), run)
    finally:
        actions.close()
