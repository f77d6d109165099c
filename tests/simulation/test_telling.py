"""What clients tell of themselves, held against what is known: told here by nobody but the test."""

from dataclasses import dataclass, field

import pytest

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.simulation import batches
from mockbroker.simulation.client import LeaderAndEpoch
from mockbroker.simulation.consumption import Consumption, Position
from mockbroker.simulation.ledger import Place
from mockbroker.simulation.plan import Plan
from mockbroker.simulation.producer_setting import ProducerSetting
from mockbroker.simulation.production import Production
from mockbroker.simulation.scene import TOPIC, Scene

PLACE: Place = (TOPIC, 0)


@dataclass
class Reader:
    name: str = "reader"
    group: str = "g"
    place: Place = PLACE
    acknowledged: int | None = None
    newest: dict[str, int] = field(default_factory=dict)


@dataclass
class Writer:
    name: str = "writer"
    place: Place = PLACE
    setting: ProducerSetting = field(default_factory=ProducerSetting)
    idempotent: bool = True
    producer_id: int = 7
    epoch: int = 0
    transactional_id: str | None = None

    def transaction_coordinator(self, transactional_id: str) -> int:
        raise AssertionError("it has no transactions")


def a_scene() -> Scene:
    return Scene(Plan(seed=1, kafka="4.4"))


def write(scene: Scene, first: int, count: int) -> batches.Records:
    """Appends records as one batch, and gives it as it is in the log."""
    made = memoryview(batches.make(first, count, scene.cluster.now_ms))
    asked = TopicProduceData(None, [PartitionProduceData(0, made)], TOPIC)
    leader = scene.partition().leader
    scene.network.send(
        "x", leader, ApiKey.PRODUCE, 9, ProduceRequest(None, 1, 1_000, [asked]), lambda _: None
    )
    scene.run_until(scene.since_start_ms + 100)
    found = batches.read(scene.partition().log.batches[-1])
    assert found is not None
    assert found.numbers[0] == first
    return found


def violated(scene: Scene) -> list[str]:
    return [each.invariant for each in scene.violations]


@pytest.mark.parametrize(
    ("told", "expected"), [(4, ["group-offset-back"]), (-1, ["group-offset-lost"]), (5, []), (6, [])]
)
def test_a_committed_offset_that_goes_back(told: int, expected: list[str]) -> None:
    scene, purged = a_scene(), []
    consumption = Consumption(scene, lambda place, offset: purged.append((place, offset)))
    consumption.committed(Reader(), 5, scene.cluster.now_ms)
    consumption.restored(Reader("another"), told, consumption.committed_offset(Reader()))
    assert violated(scene) == expected
    assert purged == [(PLACE, 5)]


def test_a_commit_that_nobody_acknowledged_may_be_valid() -> None:
    scene, reader = a_scene(), Reader()
    consumption = Consumption(scene)
    consumption.committed(reader, 5, scene.cluster.now_ms)
    scene.run_until(100)
    consumption.committing(reader, 4)
    consumption.restored(Reader("another"), 4, 5)
    assert violated(scene) == []
    scene.run_until(200)
    consumption.committed(reader, 6, scene.cluster.now_ms)
    consumption.restored(Reader("another"), 4, 6)
    assert violated(scene) == ["group-offset-back"]


@pytest.mark.parametrize(("upto", "expected"), [(3, ["read-again-after-commit"]), (0, [])])
def test_what_was_committed_is_not_read_again(upto: int, expected: list[str]) -> None:
    scene, reader = a_scene(), Reader()
    Production(scene).number(Writer(idempotent=False), 3)
    records = write(scene, 0, 3)
    consumption = Consumption(scene)
    consumption.delivered(reader, 0, records)
    consumption.committed(reader, upto, scene.cluster.now_ms)
    consumption.delivered(reader, 0, records)
    assert violated(scene) == expected


@pytest.mark.parametrize(("begins", "expected"), [(4, ["unread-record-skipped"]), (3, []), (2, []), (0, [])])
def test_what_is_after_the_committed_offset_is_not_skipped(begins: int, expected: list[str]) -> None:
    """Records 0 and 1 were committed, and record 2 was read."""
    scene, reader = a_scene(), Reader()
    Production(scene).number(Writer(idempotent=False), 4)
    first, second = write(scene, 0, 3), write(scene, 3, 1)
    assert second.base_offset == 3
    consumption = Consumption(scene)
    consumption.delivered(reader, 0, first)
    consumption.committed(reader, 2, scene.cluster.now_ms)
    consumption.began(reader, begins)
    assert violated(scene) == expected


@pytest.mark.parametrize(("offset", "expected"), [(3, ["reset-without-loss"]), (4, [])])
def test_a_position_is_given_up_for_a_reason(offset: int, expected: list[str]) -> None:
    """It is past the log end only after a loss, which excuses what is read again then."""
    scene, reader = a_scene(), Reader()
    consumption = Consumption(scene)
    Production(scene).number(Writer(idempotent=False), 3)
    consumption.delivered(reader, 0, write(scene, 0, 3))
    consumption.lost_position(reader, Position(offset, 0, LeaderAndEpoch(1, 0)), "resets")
    assert violated(scene) == expected
    assert scene.ledger.reading("g", PLACE).excused == (not expected)


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("error", [ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.MESSAGE_TOO_LARGE])
def test_a_producer_is_told_of_lost_records_when_some_are_lost(written: bool, error: ErrorCode) -> None:
    scene, writer = a_scene(), Writer()
    production = Production(scene)
    first = production.number(writer, 2)
    if written:
        write(scene, first, 2)
    production.acknowledged(writer, first, 2, 0)
    production.reported(writer, error)
    spurious = written and error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert violated(scene) == ["spurious-out-of-order"] * spurious
