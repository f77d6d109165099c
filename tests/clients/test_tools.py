"""Kafka's command line tools and kcat, with the output that real brokers give (`tools/`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mockbroker import MockCluster

from .. import needs
from .tools import session
from .tools.playing import BROKERS, CONFIG, RELEASE, play
from .tools.programs import Programs


def needed(name: str) -> pytest.MarkDecorator:
    return pytest.mark.needs("kcat") if name == "kcat" else pytest.mark.needs(*needs.JAVA)


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    programs = Programs()
    yield programs
    programs.stop()


@pytest.mark.parametrize("name", [pytest.param(name, marks=[needed(name)]) for name in session.names()])
def test_as_with_real_brokers(programs: Programs, name: str) -> None:
    with MockCluster(kafka=RELEASE, brokers=BROKERS, config=CONFIG) as cluster:
        assert play(name, cluster, programs) == session.path(name).read_text()
