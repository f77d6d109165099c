"""A capture tells what a trace of the same exchanges tells, as far as it went over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.cli.recording import of_capture

from .reading import of_kind, rows, source
from .test_trace import use


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("captures") / "wire.pcapng"
    config = {"default.replication.factor": "2"}
    with MockCluster(topics={"orders": 1}, brokers=2, capture=path, config=config) as cluster:
        use(cluster)
    return path


def test_what_went_over_the_wire(capture: Path) -> None:
    assert source(capture) == "capture"
    found = rows(capture)
    assert [(row["offset"], row["sequence"]) for row in of_kind(found, "append")] == [
        (i, i) for i in range(5)
    ]
    (commit,) = of_kind(found, "commit")
    assert (commit["group"], commit["topic"], commit["partition"], commit["offset"]) == (
        "readers",
        "orders",
        0,
        4,
    )
    (reset,) = of_kind(found, "reset")
    assert (reset["from_offset"], reset["offset"], reset["detail"]) == (99, 0, "earliest")
    leaders = [(row["leader"], row["leader_epoch"]) for row in of_kind(found, "leader")]
    assert leaders == [(1, 0), (2, 1)]  # the second from an answer that refused the old leader
    assert of_kind(found, "high-watermark")[-1]["offset"] == 5
    assert {row["broker"] for row in of_kind(found, "fetched")} == {1, 2}


def test_a_capture_that_is_cut_short(capture: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    whole = capture.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 3])
    found = rows(path)
    assert found[:-1] == rows(capture)[: len(found) - 1]
    assert found[-1]["kind"] == "unreadable"
    assert found[-1]["detail"].startswith("the capture ends here: ")


def test_a_recording_tells_what_its_capture_tells(capture: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"
    of_capture(capture, path, values=False)
    told, wanted = rows(path), rows(capture)
    for kind in ("append", "commit", "reset", "leader", "high-watermark", "fetched"):
        assert [_said(each) for each in of_kind(told, kind)] == [
            _said(each) for each in of_kind(wanted, kind)
        ]
    cut = tmp_path / "cut"
    cut.write_bytes(path.read_bytes()[:-100])
    assert "the recording ends here" in rows(cut)[-1]["detail"]


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """Without where it stands."""
    return {name: value for name, value in row.items() if name not in ("file", "position", "text")}
