"""Clients that say that they were refused: that is told, whether its cause is known or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mockbroker.pipeline.analysis import Analysis, analyze

from .readers.test_refusals import ACQUIRE, AUTO_COMMIT, DESYNCHRONIZED, FRANZ_COMMIT, PYTHON_COMMIT

IDLE = (
    "2021-04-19 14:59:17,488 INFO [Consumer clientId=app, groupId=g] %s "
    "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (AUTO_COMMIT * 2, "the commit of group g for orders-0 was refused, since the group had gone on"),
        (FRANZ_COMMIT, "the commit of group g for orders-3 was refused"),
        (PYTHON_COMMIT, "the commit of group g was refused"),
        (DESYNCHRONIZED, "producer 4000 was refused for good with OUT_OF_ORDER_SEQUENCE_NUMBER"),
        (ACQUIRE, "the producer of client app was refused for good with PRODUCER_FENCED"),
    ],
)
def test_a_client_that_was_refused(text: str, told: str, tmp_path: Path) -> None:
    found = _analyzed(text, tmp_path)
    assert [each.told[: len(told)] for each in found.symptoms] == [told]
    assert {each.confidence for each in found.incidents} <= {"possible"}


@pytest.mark.parametrize(
    "text",
    [
        IDLE % "Failing OffsetCommit request since the consumer is not part of an active group",
        IDLE % "Offset commit failed on partition orders-0 at offset 7: This is not the correct coordinator.",
        ACQUIRE.replace("There is a newer producer with", "Coordinator load in progress"),
    ],
)
def test_a_client_that_gets_over_it(text: str, tmp_path: Path) -> None:
    assert not _analyzed(text + IDLE % "Joined", tmp_path).symptoms


def _analyzed(text: str, tmp_path: Path) -> Analysis:
    path = tmp_path / "app.log"
    path.write_text(text)
    return analyze([path], tmp_path / "out")
