"""Large traces give the rows that the reader of small ones gives, wherever they are cut."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from mockbroker import MockCluster, console
from mockbroker.pipeline import bulk
from mockbroker.pipeline.collecting import observations
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.observations import NAMES
from mockbroker.pipeline.readers import read

from . import exchanges
from .readers.test_trace import HEAD, LEADER, exchange, use

Rows = Counter[tuple[tuple[str, str], ...]]
_NOT_TOLD = {"file", "text"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckEngine]:
    with closing(DuckEngine(tmp_path)) as opened:
        yield opened


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real clients', and behind it lines that can't be read, that are blank, and of other shapes."""
    path = tmp_path_factory.mktemp("bulk") / "trace.jsonl"
    config = {"default.replication.factor": "2"}
    with MockCluster(topics={"orders": 1}, brokers=2, trace=True, config=config) as cluster:
        use(cluster)
        cluster.trace.write(path)
        cluster.trace.write(path.with_suffix(".parquet"))
    return path


def told(rows: list[dict[str, Any]]) -> Rows:
    """Rows to compare: without what the bulk reader leaves out."""
    kept: Rows = Counter()
    for row in rows:
        if row["detail"] == "InitProducerId" or str(row["detail"]).startswith("joined as"):
            continue
        if row["kind"] == "refused" and row["topic"] is None:
            row["group"] = row["transactional_id"] = None
        kept[tuple((name, str(row[name])) for name in NAMES if name not in _NOT_TOLD)] += 1
    return kept


def bulk_rows(engine: DuckEngine, path: Path, into: Path, split_bytes: int) -> list[dict[str, Any]]:
    bulk.read(engine, path, into, split_bytes)
    assert not list(into.glob("kind=~*"))
    return observations(engine, into).collect()


def slow_rows(path: Path) -> list[dict[str, Any]]:
    return [asdict(row) for row in read(path)]


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_both_readers_tell_the_same(engine: DuckEngine, trace: Path, tmp_path: Path, ending: str) -> None:
    path = trace.with_suffix(ending)
    found = told(bulk_rows(engine, path, tmp_path / "rows", 20_000))
    expected = told(slow_rows(path))
    assert found - expected == Counter()
    assert expected - found == Counter()
    assert {dict(row)["kind"] for row in found} >= {
        "commit",
        "restore",
        "reset",
        "refused",
        "fetched",
        "append",
    }


class Here(DuckEngine):
    """Tasks without processes of their own: of small traces there are many."""

    def each(self, do: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        return [do(task) for task in tasks]


def differences(path: Path, into: Path, split_bytes: int) -> list[tuple[str, str]]:
    """Rows that only one reader gives, and which."""
    with closing(Here(into)) as engine:
        found = told(bulk_rows(engine, path, into / "rows", split_bytes))
    expected = told(slow_rows(path))
    assert expected
    only = [("bulk", row) for row in found - expected] + [("single", row) for row in expected - found]
    return [(which, str({name: value for name, value in row if value != "None"})) for which, row in only]


STORIES = sorted(Path(console.__file__).with_name("page").glob("stories/*.jsonl"))


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)
def test_both_readers_tell_the_same_of_stories(story: Path, tmp_path: Path) -> None:
    assert differences(story, tmp_path, 30_000) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("split_bytes", [20_000, 1 << 20])
def test_both_readers_tell_the_same_of_anything(tmp_path: Path, seed: int, split_bytes: int) -> None:
    path = tmp_path / "trace.jsonl"
    exchanges.write(path, seed, 400)
    assert differences(path, tmp_path, split_bytes) == []


def fetch(epoch: int, partitions: dict[int, int], replica: int = -1) -> dict[str, Any]:
    """A request, from the offsets given for partitions, of a session if `epoch` is at least 0."""
    asked = [{"partition": each, "fetch_offset": offset} for each, offset in partitions.items()]
    topics = [{"topic": "orders", "partitions": asked}]
    return {"session_epoch": epoch, "replica_id": replica, "topics": topics}


def given(*partitions: int) -> dict[str, Any]:
    """An answer: of each partition a batch of the records 100 to 149."""
    batch = {"base_offset": 100, "records": 50, "leader_epoch": 0}
    parts = [{"partition_index": each, "error_code": "NONE", "records": [batch]} for each in partitions]
    return {"responses": [{"topic": "orders", "partitions": parts}]}


@pytest.mark.parametrize("split_bytes", [500, 1 << 20])
def test_a_client_is_given_records_from_where_it_asked(tmp_path: Path, split_bytes: int) -> None:
    """A batch begins before; in a session the partition may be named by an earlier request."""
    fetches = [
        *exchange(1, fetch(0, {0: 130, 1: 90}), given(0)),
        *exchange(2, fetch(1, {0: 150}), given(1)),
        *exchange(3, fetch(-1, {0: 110}, replica=7), given(0)),
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text(HEAD + "".join(json.dumps(each) + "\n" for each in fetches))
    with closing(Here(tmp_path)) as engine:
        for rows in (bulk_rows(engine, path, tmp_path / "rows", split_bytes), slow_rows(path)):
            fetched = [row for row in rows if row["kind"] == "fetched"]
            found = sorted((row["partition"], row["offset"], row["end_offset"]) for row in fetched)
            assert found == [(0, 130, 150), (1, 100, 150)]


def test_an_old_answer_does_not_say_which_epoch_ends(tmp_path: Path) -> None:
    """OffsetForLeaderEpoch v0 answers only an offset."""
    topics = [
        {"topics": [{"topic": "orders", "partitions": [{"partition": 0, "error_code": "NONE", **values}]}]}
        for values in ({"leader_epoch": 3}, {"end_offset": 7})
    ]
    path = tmp_path / "trace.jsonl"
    rows = ({**row, "api": "OffsetForLeaderEpoch"} for row in exchange(1, *topics))
    path.write_text(HEAD + "".join(json.dumps(each) + "\n" for each in rows))
    assert differences(path, tmp_path, 1 << 20) == []


def test_traces_of_the_same_name(engine: DuckEngine, trace: Path, tmp_path: Path) -> None:
    copy = tmp_path / trace.name
    copy.write_bytes(trace.read_bytes())
    bulk.read(engine, trace, tmp_path / "rows")
    one = observations(engine, tmp_path / "rows").collect()
    bulk.read(engine, copy, tmp_path / "rows")
    assert len(observations(engine, tmp_path / "rows").collect()) == 2 * len(one)


def test_what_cannot_be_read_is_told(engine: DuckEngine, tmp_path: Path) -> None:
    request = {
        "kind": "request",
        "number": 2,
        "time_ms": 6,
        "broker": 1,
        "connection": "c",
        "client_id": "app",
        "api": "DescribeGroups",
        "version": 5,
        "correlation_id": 1,
        "names": ["readers"],
        "body": {"groups": ["readers"]},
    }
    wrong = {**request, "api": "Fetch", "body": {"topics": "none"}}
    lines = [json.dumps(LEADER)] * 400
    lines[10] = json.dumps(LEADER)[:-9]
    lines[20] = ""
    lines[30] = json.dumps(request)
    lines[40] = json.dumps(wrong)
    lines[50] = "[1, 2]"
    lines[60] = json.dumps({"kind": "from the future", "number": 1, "time_ms": 5})
    path = tmp_path / "trace.jsonl"
    path.write_text(HEAD + "\n".join(lines) + '\n{"kind":"lea')
    rows = bulk_rows(engine, path, tmp_path / "rows", 10_000)
    bad = {row["position"]: row["detail"] for row in rows if row["kind"] == "unreadable"}
    assert sorted(bad) == [12, 42, 52, 402]
    assert bad[402].startswith("torn last line")
    leaders = sorted(row["position"] for row in rows if row["kind"] == "leader")
    assert leaders == [line for line in range(2, 402) if line not in (12, 22, 32, 42, 52, 62)]


@pytest.mark.parametrize(
    ("head", "large", "known"),
    [
        (HEAD, True, True),
        (HEAD, False, False),
        (HEAD.replace("1}", "2}"), True, True),
        (HEAD.replace("1}", "3}"), True, False),
        ("no head\n", True, False),
    ],
)
def test_which_traces_are_read_in_bulk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, large: bool, known: bool
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(head + json.dumps(LEADER) + "\n")
    monkeypatch.setattr(bulk, "LEAST_BYTES", path.stat().st_size + (0 if large else 1))
    assert bulk.can_read(path, "trace") is known
    assert not bulk.can_read(path, "broker-log")
