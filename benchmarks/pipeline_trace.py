"""Makes a large trace, always the same: `python -m benchmarks.pipeline_trace trace.jsonl --rows 5000000`.

What the trace of a busy cluster holds, in its proportions: producers and two groups of consumers on some
topics, commits, heartbeats, high watermarks. Every 400,000 rows a group is given an old offset back.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mockbroker.trace.events import SCHEMA_VERSION
from mockbroker.trace.files import COLUMNS, SCHEMA

START_MS: Final = 1_700_000_000_000
TOPICS: Final = 4
PARTITIONS: Final = 8
GROUPS: Final = ("billing", "search")
COMMIT_EVERY: Final = 8
"""Steps of a partition from one commit of a group to the next."""
REWIND_EVERY: Final = 400_000
"""Rows from one restore of an old offset to the next."""
REWIND_BY: Final = 5_000
VERSIONS: Final = {"Fetch": 12, "Produce": 9, "OffsetCommit": 8, "Heartbeat": 4, "OffsetFetch": 7}
HEAD: Final = json.dumps({"schema": SCHEMA, "version": SCHEMA_VERSION})


@dataclass
class _Partition:
    topic: str
    index: int
    end: int = 0
    sequence: int = 0
    steps: int = 0
    positions: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GROUPS, 0))
    committed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GROUPS, 0))

    @property
    def name(self) -> str:
        """As JSON."""
        return f'"{self.topic}-{self.index}"'

    def member(self, group: str) -> str:
        """The member of the group that reads it."""
        return f"{group}-{self.index % 3}"


class Generator:
    """Lines of a trace. The same seed, the same lines."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.number = 0
        self.time_ms = START_MS
        self.correlation = itertools.count(1)
        self.partitions = [
            _Partition(f"topic-{topic}", index) for topic in range(TOPICS) for index in range(PARTITIONS)
        ]
        self.rewinds = 0

    def lines(self) -> Iterator[str]:
        """Without end."""
        for each in self.partitions:
            yield self._row(
                "leader", f'"topic":"{each.topic}","partition":{each.index},"leader":1,"leader_epoch":0'
            )
        while True:
            self.time_ms += self.random.randrange(3)
            yield from self._step(self.random.choice(self.partitions))

    def _step(self, at: _Partition) -> Iterator[str]:
        at.steps += 1
        fetches = [(group, next(self.correlation)) for group in GROUPS]
        for group, number in fetches:
            yield self._fetch(at, group, number)
        yield from self._produce(at, self.random.randint(1, 20))
        for group, number in fetches:
            yield self._fetched(at, group, number)
        if at.steps % COMMIT_EVERY == 0:
            for group in GROUPS:
                yield from self._commit(at, group)
        if self.number // REWIND_EVERY > self.rewinds and at.committed[GROUPS[0]] > REWIND_BY:
            self.rewinds += 1
            yield from self._rewind(at, GROUPS[0])

    def _row(self, kind: str, rest: str) -> str:
        self.number += 1
        return f'{{"kind":"{kind}","number":{self.number},"time_ms":{self.time_ms},{rest}}}'

    def _exchange(self, kind: str, api: str, client: str, number: int, names: str, rest: str) -> str:
        return self._row(
            kind,
            f'"broker":1,"connection":"127.0.0.1:{client}","client_id":"{client}","api":"{api}",'
            f'"version":{VERSIONS[api]},"correlation_id":{number},"names":[{names}],{rest}',
        )

    def _request(self, api: str, client: str, number: int, names: str, body: str) -> str:
        return self._exchange("request", api, client, number, names, f'"body":{{{body}}}')

    def _answer(self, api: str, client: str, number: int, names: str, body: str) -> str:
        rest = f'"outcome":"answer","errors":[],"faults":[],"body":{{{body}}}'
        return self._exchange("answer", api, client, number, names, rest)

    def _fetch(self, at: _Partition, group: str, number: int) -> str:
        body = (
            '"cluster_id":null,"replica_state":{"replica_id":-1,"replica_epoch":-1},"max_wait_ms":500,"min_bytes":1,'
            '"max_bytes":52428800,"isolation_level":1,"session_id":0,"session_epoch":-1,"topics":[{"topic_id":null,'
            f'"partitions":[{{"partition":{at.index},"current_leader_epoch":0,"fetch_offset":{at.positions[group]},'
            '"last_fetched_epoch":-1,"log_start_offset":-1,"partition_max_bytes":1048576,"replica_directory_id":null,'
            f'"high_watermark":9223372036854775807}}],"topic":"{at.topic}"}}],"forgotten_topics_data":[],'
            '"rack_id":"","replica_id":-1'
        )
        return self._request("Fetch", at.member(group), number, at.name, body)

    def _fetched(self, at: _Partition, group: str, number: int) -> str:
        start = at.positions[group]
        count = min(at.end - start, 500)
        at.positions[group] += count
        body = (
            '"throttle_time_ms":0,"error_code":"NONE","session_id":0,"responses":[{"topic_id":null,"partitions":['
            f'{{"partition_index":{at.index},"error_code":"NONE","high_watermark":{at.end},"last_stable_offset":{at.end},'
            '"log_start_offset":0,"diverging_epoch":{"epoch":-1,"end_offset":-1},"current_leader":{"leader_id":-1,'
            '"leader_epoch":-1},"snapshot_id":{"end_offset":-1,"epoch":-1},"aborted_transactions":[],'
            f'"preferred_read_replica":-1,"records":[{_batch(at, start, count, start)}]}}],'
            f'"topic":"{at.topic}"}}],"node_endpoints":[]'
        )
        return self._answer("Fetch", at.member(group), number, at.name, body)

    def _produce(self, at: _Partition, count: int) -> Iterator[str]:
        number = next(self.correlation)
        body = (
            '"transactional_id":null,"acks":-1,"timeout_ms":30000,"topic_data":[{"topic_id":null,"partition_data":[{'
            f'"index":{at.index},"records":[{_batch(at, 0, count, at.sequence)}]}}],"name":"{at.topic}"}}]'
        )
        yield self._request("Produce", "loader", number, at.name, body)
        base = at.end
        at.end += count
        at.sequence += count
        yield self._row(
            "high-watermark",
            f'"topic":"{at.topic}","partition":{at.index},"high_watermark":{at.end},"last_stable_offset":{at.end},'
            f'"log_end_offset":{at.end}',
        )
        body = (
            '"responses":[{"topic_id":null,"partition_responses":[{'
            f'"index":{at.index},"error_code":"NONE","base_offset":{base},"log_append_time_ms":-1,"log_start_offset":0,'
            '"record_errors":[],"error_message":null,"current_leader":{"leader_id":-1,"leader_epoch":-1}}],'
            f'"name":"{at.topic}"}}],"throttle_time_ms":0,"node_endpoints":[]'
        )
        yield self._answer("Produce", "loader", number, at.name, body)

    def _commit(self, at: _Partition, group: str) -> Iterator[str]:
        number, client, names = next(self.correlation), at.member(group), f'{at.name},"{group}"'
        at.committed[group] = at.positions[group]
        body = (
            f'"group_id":"{group}","generation_id_or_member_epoch":1,"member_id":"{client}",'
            '"group_instance_id":null,'
            f'"topics":[{{"topic_id":null,"partitions":[{{"partition_index":{at.index},"committed_offset":'
            f'{at.positions[group]},"committed_leader_epoch":0,"committed_metadata":""}}],"name":"{at.topic}"}}],'
            '"retention_time_ms":-1'
        )
        yield self._request("OffsetCommit", client, number, names, body)
        body = (
            '"throttle_time_ms":0,"topics":[{"topic_id":null,"partitions":[{"partition_index":'
            f'{at.index},"error_code":"NONE"}}],"name":"{at.topic}"}}]'
        )
        yield self._answer("OffsetCommit", client, number, names, body)
        number, names = next(self.correlation), f'"{group}"'
        body = f'"group_id":"{group}","generation_id":1,"member_id":"{client}","group_instance_id":null'
        yield self._request("Heartbeat", client, number, names, body)
        yield self._answer("Heartbeat", client, number, names, '"throttle_time_ms":0,"error_code":"NONE"')

    def _rewind(self, at: _Partition, group: str) -> Iterator[str]:
        number, client, names = next(self.correlation), at.member(group), f'{at.name},"{group}"'
        old = at.committed[group] - REWIND_BY
        at.positions[group] = at.committed[group] = old
        body = (
            f'"groups":[{{"group_id":"{group}","member_id":null,"member_epoch":-1,"topics":[]}}],"require_stable":true,'
            f'"group_id":"{group}","topics":[{{"topic_id":null,"partition_indexes":[{at.index}],"name":"{at.topic}"}}]'
        )
        yield self._request("OffsetFetch", client, number, names, body)
        body = (
            '"throttle_time_ms":0,"groups":[],"topics":[{"topic_id":null,"partitions":[{"partition_index":'
            f'{at.index},"committed_offset":{old},"committed_leader_epoch":0,"metadata":"","error_code":"NONE"}}],'
            f'"name":"{at.topic}"}}],"error_code":"NONE"'
        )
        yield self._answer("OffsetFetch", client, number, names, body)


def _batch(at: _Partition, base: int, count: int, sequence: int) -> str:
    return (
        f'{{"base_offset":{base},"bytes":{70 * count},"leader_epoch":0,"producer_id":{at.index},'
        f'"producer_epoch":0,"base_sequence":{sequence},"records":{count}}}'
    )


def write(path: Path, rows: int, seed: int = 0) -> None:
    """JSON lines, or Parquet where the name ends so."""
    lines = itertools.islice(Generator(seed).lines(), rows)
    if path.suffix == ".parquet":
        _write_parquet(path, lines)
        return
    with path.open("w") as file:
        file.write(HEAD + "\n")
        file.writelines(f"{line}\n" for line in lines)


def _write_parquet(path: Path, lines: Iterator[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def arrow(kind: str) -> Any:
        if kind.startswith("list<"):
            return pa.list_(arrow(kind[5:-1]))
        return pa.bool_() if kind == "bool" else getattr(pa, kind)()

    about = {"schema": SCHEMA, "version": str(SCHEMA_VERSION)}
    schema = pa.schema([(name, arrow(kind)) for name, kind in COLUMNS.items()], about)
    with pq.ParquetWriter(path, schema) as writer:
        while chunk := [json.loads(line) for line in itertools.islice(lines, 100_000)]:
            for row in chunk:
                if "body" in row:
                    row["body"] = json.dumps(row["body"], separators=(",", ":"))
            writer.write_batch(pa.RecordBatch.from_pylist(chunk, schema))


def main(
    file: Annotated[Path, typer.Argument(help="Where to: .jsonl or .parquet.")],
    rows: Annotated[int, typer.Option(min=1)] = 5_000_000,
    seed: int = 0,
) -> None:
    """Write a trace that is the same each time."""
    write(file, rows, seed)


if __name__ == "__main__":
    typer.run(main)
