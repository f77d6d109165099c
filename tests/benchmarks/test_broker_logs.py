"""The logs of the benchmark: files that are read as a broker's, whose entries come one after the other."""

from __future__ import annotations

from pathlib import Path

from benchmarks.broker_logs import write
from mockbroker.pipeline.readers import Reading, survey
from mockbroker.pipeline.readers.log_entries import Entry, entries


def test_logs_of_the_wanted_size(tmp_path: Path) -> None:
    write(tmp_path, 1_000_000, recordings="3.9.2-rebalance")
    found = survey([tmp_path])
    assert not found.unknown
    assert {reader.name for _, reader in found.recognised} == {"broker-log"}
    assert 1_000_000 <= sum(path.stat().st_size for path, _ in found.recognised) < 1_300_000
    (log,) = (path for path, _ in found.recognised if path.match("broker2/server.log.*"))
    times = [each.time_ms for each in entries(log, Reading()) if isinstance(each, Entry)]
    hours = [time // 3_600_000 for time in times]
    assert hours == sorted(hours)
    assert len(set(hours)) > 5
