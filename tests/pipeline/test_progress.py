"""What is told while files are read."""

from __future__ import annotations

from mockbroker.pipeline.progress import Progress, Rows


def test_bytes_and_the_remaining_time_once_a_second() -> None:
    now, told = 100.0, list[str]()
    progress = Progress(2_000_000_000, told.append, lambda: now)
    progress.read(100_000_000)
    assert told == []
    now = 102.0
    progress.read(400_000_000)
    now = 102.9
    progress.read(100_000_000)
    now = 104.0
    progress.read(1_000_000_000)
    assert told == [
        "read 500 MB of 2.00 GB, about 6 s left",
        "read 1.60 GB of 2.00 GB, about 1 s left",
    ]


def test_bytes_that_were_looked_at() -> None:
    times, told = iter([0.0, 2.0]), list[str]()
    Progress(4_000_000, told.append, lambda: next(times), done="looked at").read(1_000_000)
    assert told == ["looked at 1 MB of 4 MB, about 6 s left"]


def test_rows_that_were_gone_through_every_two_seconds() -> None:
    times, told = iter([100.0, 101.0, 102.5, 103.0, 104.5]), list[str]()
    rows = Rows("partitions", told.append, lambda: next(times))
    for count in (10_000, 20_000, 1, 1_000_000):
        rows.read(count)
    assert told == [
        "went through 30,000 rows of partitions",
        "went through 1,030,001 rows of partitions",
    ]
