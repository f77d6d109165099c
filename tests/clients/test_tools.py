"""Kafka's command line tools and kcat, with the output that real brokers give (`tools/`)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

import pytest

from mockbroker import MockCluster, Security
from mockbroker.rig import sasl_listener

from .. import needs
from ..turns import in_turn
from .tools import session
from .tools.playing import BROKERS, CONFIG, LOGIN, LOGIN_CONFIG, RELEASE, play
from .tools.programs import Programs

SECURITY: Final = Security(
    sasl=sasl_listener.MECHANISMS,
    users=sasl_listener.USERS,
    listeners={"PLAINTEXT": "PLAINTEXT", sasl_listener.NAME: "SASL_PLAINTEXT"},
    super_users=["ANONYMOUS", "alice"],
)
"""The users of real brokers log in by PLAIN only, until a session gives them more."""


def needed(name: str) -> pytest.MarkDecorator:
    return pytest.mark.needs("kcat") if name == "kcat" else pytest.mark.needs(*needs.JAVA)


_UNASSIGNED: Final = re.compile(r"Timed out waiting for a node assignment\. Call: (\w+\(api=\w+\))")
_IN_FLIGHT: Final = (
    r"Call(callName=\1, deadlineMs=<now>, tries=<n>, nextAllowedTryMs=<now>) "
    "timed out at <now> after <n> attempt(s)"
)
"""Which of these Java says depends on where a call is when its time is over."""


def comparable(output: str) -> list[str]:
    """Lines, with ACLs of one resource in order: Java prints a set, in another order in each JVM."""
    output = _UNASSIGNED.sub(_IN_FLIGHT, output)
    runs = itertools.groupby(output.splitlines(), key=lambda line: line.lstrip().startswith("(principal="))
    return [each for is_acl, lines in runs for each in (sorted(map(str.strip, lines)) if is_acl else lines)]


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    programs = Programs()
    yield programs
    programs.stop()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[needed(name)]) for name in in_turn(session.names(), 3)]
)
def test_as_with_real_brokers(programs: Programs, name: str) -> None:
    login = name.startswith(LOGIN)
    config = CONFIG | LOGIN_CONFIG if login else CONFIG
    security = SECURITY if login else None
    with MockCluster(kafka=RELEASE, brokers=BROKERS, config=config, security=security) as cluster:
        states = cluster.listener_states()
        logins = [
            f"{each['host']}:{each['port']}" for each in states if each["listener"] == sasl_listener.NAME
        ]
        printed = play(name, cluster, programs, logins)
    assert comparable(printed) == comparable(session.path(name).read_text())
