"""How coordinators loaded their offsets, as brokers' logs tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .rows import Row, found_in, healthy

if TYPE_CHECKING:
    from mockbroker.pipeline.observations import Observation

OWN = "[BrokerServer id={}] Waiting for the broker to be unfenced (kafka.server.BrokerServer)"
_MANAGER = "[GroupMetadataManager brokerId={}]: "
_LOGGER = " (kafka.coordinator.group.GroupMetadataManager)"
FINISHED = (
    _MANAGER
    + "Finished loading offsets and group metadata from __consumer_offsets-{} in {} milliseconds for "
    "epoch 3, of which 5 milliseconds was spent in the scheduler." + _LOGGER
)
FAILED = _MANAGER + "Error loading offsets from __consumer_offsets-7" + _LOGGER + "\n{}"
REMOVED = _MANAGER + "Removed 12 expired offsets in 3 milliseconds." + _LOGGER
NEWER = (
    "[GroupCoordinator id={}] Failed to load metadata from __consumer_offsets-7 with epoch 2 due to {}. "
    "(org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
)
_CLEANER = " (kafka.log.LogCleaner$CleanerThread)\n"
DIED = (
    "[kafka-log-cleaner-thread-0]: Error due to"
    + _CLEANER
    + "java.lang.IllegalStateException: This log contains "
    "a message larger than maximum allowable size of 1000012."
)
UNCLEANABLE = (
    "[kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log Log(dir=/d). Marking its "
    "partition (__consumer_offsets-7) as uncleanable" + _CLEANER + "java.lang.IllegalArgumentException: "
    "requirement failed: Attempt to append to a full offset map."
)
UNKNOWN = "java.lang.IllegalStateException: Unknown offset message version: 9"
UNREADABLE = "Deserializing record DefaultRecord(offset=4) from __consumer_offsets-7 failed."
MOVED = (
    "Stopped loading records from __consumer_offsets-7 because the partition is not online or is no longer "
    "the leader."
)
CLOSED = "java.nio.channels.ClosedChannelException\n\tat sun.nio.ch.FileChannelImpl.ensureOpen"
AT = "[2015-07-01 12:{:02}:00,000] "
BEGAN = "[GroupCoordinator id={}] Scheduling loading of metadata from __consumer_offsets-7 with epoch {}"
LOGS = {
    1: {0: FAILED.format(1, UNKNOWN)},
    2: {0: NEWER.format(2, UNREADABLE), 30: NEWER.format(2, MOVED), 31: NEWER.format(2, "loader is closed.")},
    3: {
        0: DIED,
        20: REMOVED.format(3),
        30: FINISHED.format(3, 8, 1_020_300),
        31: FINISHED.format(3, 9, 1_080_300),
        32: FINISHED.format(3, 10, 45),
    },
    4: {0: FINISHED.format(4, 8, 59_000), 10: FAILED.format(4, CLOSED), 20: REMOVED.format(4)},
    5: {0: UNCLEANABLE},
    6: {40: BEGAN.format(6, 2), 41: NEWER.format(6, MOVED)},
    7: {41: BEGAN.format(7, 3)},
    # The next leader took over at once.
    8: {44: f"{BEGAN.format(8, 5)}\n{AT.format(44)}ERROR {NEWER.format(8, MOVED)}"},
    9: {44: BEGAN.format(9, 6)},
}
"""What each broker logs, by minute."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Row]]:
    """By broker. Each writes everything to two files, as Kafka's scripts make it do. The brokers 2 and 3 are
    also those of `recorded/healthy-*`."""
    from mockbroker.pipeline.readers import read
    from mockbroker.pipeline.signatures import loads

    folder = tmp_path_factory.mktemp("logs")
    observations: list[Observation] = []
    for broker, entries in LOGS.items():
        lines = [AT.format(0) + "INFO " + OWN.format(broker)]
        lines += [AT.format(minute) + "ERROR " + entry for minute, entry in entries.items()]
        for name in ("server.log", "kafkaServer.out"):
            path = folder / f"{broker}-{name}"
            path.write_text("\n".join(lines) + "\n")
            observations += read(path)
    observations += healthy().rows
    rows = found_in(observations, loads.find)
    by_broker: dict[int, list[Row]] = {broker: [] for broker in LOGS}
    for row in rows:
        by_broker[row.broker].append(row)
    return by_broker


def test_a_load_that_ended_early(found: dict[int, list[Row]]) -> None:
    (one,) = found[1]
    assert (one.signature, one.confidence, one.partition) == ("load-ended-early", "certain", 7)
    assert one.summary == (
        "broker 1 stopped loading the committed offsets of __consumer_offsets-7: "
        "IllegalStateException: Unknown offset message version: 9"
    )


def test_of_the_loads_of_4_0_only_those_that_failed(found: dict[int, list[Row]]) -> None:
    (one,) = found[2]
    assert (one.signature, "DefaultRecord(offset=4)" in one.summary) == ("load-ended-early", True)


def test_a_slow_load_after_the_cleaner_died(found: dict[int, list[Row]]) -> None:
    died, slow = sorted(found[3], key=lambda each: each.signature)
    assert (died.signature, died.confidence) == ("cleaner-stopped", "certain")
    assert died.summary.startswith("the log cleaner of broker 3 stopped: Error due to: IllegalStateException")
    assert (slow.signature, slow.confidence) == ("slow-load", "certain")
    assert slow.summary == (
        "broker 3 took 1080300 ms to load the committed offsets of __consumer_offsets-9 and 1 more; its log "
        "cleaner had stopped before; meanwhile it deleted offsets that it took for stale, which newer ones "
        "may follow"
    )
    assert [each.text.split(": ")[1].partition(" ")[0] for each in slow.evidence] == [
        "Error",
        "Removed",
        "Finished",
    ]


def test_a_coordinator_that_had_not_loaded_when_another_one_took_over(found: dict[int, list[Row]]) -> None:
    (one,) = found[6]
    assert (one.signature, one.confidence) == ("coordinator-moved-while-loading", "certain")
    assert one.summary == (
        "broker 6 was loading the committed offsets of __consumer_offsets-7 for 60000 ms, and had not "
        "finished when broker 7 took over in epoch 3: meanwhile its groups had no coordinator"
    )


def test_what_happens_every_day(found: dict[int, list[Row]]) -> None:
    assert [found[broker] for broker in (4, 7, 8, 9)] == [[]] * 4


def test_a_partition_that_the_cleaner_gave_up(found: dict[int, list[Row]]) -> None:
    (one,) = found[5]
    assert (one.signature, one.topic, one.partition) == ("cleaner-stopped", "__consumer_offsets", 7)
