"""The files of the benchmark: readable, each time later, with other groups."""

from __future__ import annotations

from pathlib import Path

from benchmarks.incident import write
from mockbroker.pipeline.readers import Reading, read, survey


def test_files_of_the_wanted_size(tmp_path: Path) -> None:
    write(tmp_path, 2_000_000, segments="3.9.2-rebalance", logs="3.9.2-rebalance")
    found = survey([tmp_path])
    assert not found.unknown
    assert 2_000_000 <= sum(path.stat().st_size for path, _ in found.recognised) < 2_700_000
    segments = [path for path, reader in found.recognised if reader.name == "segment"]
    assert {path.parts[-4] for path in segments} == {"broker1", "broker2", "broker3"}
    (path,) = (each for each in segments if each.match("broker1/*/__consumer_offsets-1/*.log"))
    rows = list(read(path, Reading()))
    offsets = [row.offset or 0 for row in rows if row.kind == "append"]
    assert offsets == sorted(set(offsets))
    commits = [row for row in rows if row.kind == "commit"]
    assert len({row.group for row in commits}) > 10
    assert max(row.time_ms or 0 for row in commits) - min(row.time_ms or 0 for row in commits) > 3_600_000
    assert [row for row in rows if row.kind == "unreadable"] == []
