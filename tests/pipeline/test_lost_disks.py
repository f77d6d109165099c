"""Logs that a broker creates a second time, as its search and the ledger of partitions find them."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers import partitions
from mockbroker.pipeline.signatures import lifetimes

from .ledgers import folding
from .rows import History, found_in, healthy

LOG: dict[str, Any] = {"broker": 2, "source": "broker-log"}


class Story(History):
    """A log that broker 2 creates, a commit of what is in it, and what came then."""

    def __init__(self, committed: int = 300) -> None:
        super().__init__("broker-log")
        self.created().leads(0, 0).commit(committed, leader_epoch=None)

    def created(self) -> Story:
        self.add("log", detail="created", **LOG)
        return self

    def deleted(self) -> Story:
        self.add("log", detail="deleted", **LOG)
        return self

    def leads(self, epoch: int, offset: int, leader: int = 2) -> Story:
        self.add("leader", leader=leader, leader_epoch=epoch, offset=offset, **LOG)
        return self


GONE = Story().created().leads(1, 0, leader=-1).leads(2, 0)
NOT_GONE = {
    "it had copied the log": Story().created().leads(1, 0, leader=1).leads(2, 300),
    "it never led": Story().created(),
    "nothing was read": Story(committed=0).created().leads(1, 0),
    "it was moved": Story().deleted().created().leads(1, 0),
    "the disk is whole": Story().leads(1, 0),
}


def notes(story: Story) -> list[tuple[str, int | None, int | None]]:
    rows = folding.Rows()
    for each in story.rows:
        names = ("group", "detail", "leader", "broker", "leader_epoch", "offset")
        own: dict[str, Any] = {name: getattr(each, name) for name in names}
        rows.add(each.kind, topic="orders", partition=0, **own)
    return folding.told(partitions.LEDGER, rows)


def test_the_only_replica() -> None:
    """Clients other than Java's commit no epochs."""
    (one,) = found_in(GONE.rows, lifetimes.find)
    assert (one.signature, one.confidence, one.broker) == ("only-replica-lost", "likely", 2)
    assert "the log of orders-0, which it leads" in one.summary
    assert "300 records that groups had read are gone" in one.summary
    assert [each.position for each in one.evidence] == [1, 3, 4, 6]
    assert notes(GONE) == [("acknowledged-missing", 0, 300)]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("it had copied the log", [("follower-log-lost", "likely")]),
        ("it never led", [("follower-log-lost", "likely")]),
        ("nothing was read", [("follower-log-lost", "possible")]),
        ("it was moved", []),
        ("the disk is whole", []),
    ],
)
def test_what_is_not_gone(name: str, found: list[tuple[str, str]]) -> None:
    """Or of which nothing tells that it is gone."""
    rows = NOT_GONE[name].rows
    assert [(each.signature, each.confidence) for each in found_in(rows, lifetimes.find)] == found
    assert notes(NOT_GONE[name]) == []


def test_what_brokers_do_every_day() -> None:
    assert found_in(healthy().rows, lifetimes.find) == []
