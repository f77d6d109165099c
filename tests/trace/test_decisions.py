"""What behaviours decide is told with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mockbroker import MockCluster
from mockbroker.policies import CATALOGUE, Policies
from mockbroker.policies.watched import Decision, WatchedPolicies
from mockbroker.protocol import releases
from mockbroker.trace.files import read_json_lines

from ..driving.clients import raw_client
from ..policies.test_own import Halfway, Heard, end_of_epoch, produce

NAME = "undefined-epoch"
REPLICATED = {"default.replication.factor": "3"}


def raising(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
    raise ZeroDivisionError("mine")


def decided(cluster: MockCluster, **wanted: Any) -> list[dict[str, Any]]:
    return [event.row() for event in cluster.trace.events("decision", **wanted)]


@pytest.mark.parametrize(
    ("options", "answer", "source", "scope", "answered"),
    [
        ({}, "undefined", "release", "", [-1, -1]),
        ({"fixed": True}, "log-end-offset", "fixed", "", [0, 4]),
        ({"policies": {NAME: "log-end-offset"}}, "log-end-offset", "chosen", "", [0, 4]),
        ({"fixed": True, "policies": {NAME: "undefined"}}, "undefined", "chosen", "", [-1, -1]),
        (
            {"policies": {f"{NAME}@topic:t@broker:1": "log-end-offset", f"{NAME}@broker:1": "undefined"}},
            *("log-end-offset", "chosen", "@topic:t@broker:1", [0, 4]),
        ),
        ({"policies": {f"{NAME}@topic:t": Halfway()}}, "Halfway", "own", "@topic:t", [0, 2]),
        ({"policies": {NAME: raising}}, "raising", "own", "", "raised ZeroDivisionError('mine')"),
    ],
)
def test_a_decision_and_its_reason(
    options: Mapping[str, Any], answer: str, source: str, scope: str, answered: object
) -> None:
    """An OffsetForLeaderEpoch leaves behaviour, answer, source and question."""
    with MockCluster(brokers=1, topics={"t": 1}, trace=True, observer=Heard(), **options) as cluster:
        produce(cluster, 4)
        end_of_epoch(cluster, 7)
        (row,) = decided(cluster, name=NAME)
        (request,) = cluster.trace.events("request", api="OffsetForLeaderEpoch")
        assert len(cluster.failures) == (answer == "raising")
        cluster.failures.clear()
    assert {name: row[name] for name in ("answer", "source", "scope", "topic", "broker")} == {
        "answer": answer,
        "source": source,
        "scope": scope,
        "topic": "t",
        "broker": 1,
    }
    assert row["asked"] == {"latest_epoch": 0, "log_end_offset": 4}
    assert row["answered"] == answered
    assert row["request"] == request.number


def test_answers_change_while_they_are_watched() -> None:
    with MockCluster(brokers=1, topics={"t": 1}) as cluster:
        produce(cluster, 4)
        assert decided(cluster) == []
        seen = []
        steps: list[tuple[Callable[..., None], tuple[Any, ...], dict[str, str]]] = [
            (cluster.policies.set, (NAME, "log-end-offset"), {"topic": "t"}),
            (cluster.policies.set, (NAME, Halfway()), {}),
            (cluster.policies.reset, (NAME,), {"topic": "t"}),
            (cluster.policies.reset, (NAME,), {}),
        ]
        for change, given, where in steps:
            change(*given, **where)
            end_of_epoch(cluster, 7)
            seen.append(decided(cluster, name=NAME)[-1])
        changes = [event.row()["answer"] for event in cluster.trace.events("policy", name=NAME)]
    assert changes == ["log-end-offset", "Halfway", "Halfway", "undefined"]
    assert [(row["answer"], row["source"], row["scope"]) for row in seen] == [
        ("log-end-offset", "chosen", "@topic:t"),
        ("log-end-offset", "chosen", "@topic:t"),
        ("Halfway", "own", ""),
        ("undefined", "release", ""),
    ]


def test_values_are_decisions_without_a_question() -> None:
    with MockCluster(brokers=1, topics={"t": 1}, trace=True) as cluster:
        produce(cluster, 2)
        told = decided(cluster, name="consumer-read-limit")
        assert told == []
        rows = decided(cluster, name="time-retention", topic="t")
    assert {(row["answer"], row["asked"], row["answered"]) for row in rows} == {("record-time", None, None)}


def test_the_same_is_told_once_for_a_request() -> None:
    """Two topics, three partitions: one question, one answer."""
    with MockCluster(brokers=1, topics={"t": 1, "u": 2}, trace=True, kafka="3.9") as cluster:
        body: dict[str, Any] = {"replica_id": -1, "topics": []}
        for topic, count in (("t", 1), ("u", 2)):
            asked = [
                {"partition": i, "current_leader_epoch": -1, "leader_epoch": 5 + i} for i in range(count)
            ]
            body["topics"].append({"topic": topic, "partitions": asked})
        with raw_client(cluster) as client:
            for _ in range(2):
                client.call("offset_for_leader_epoch", 3, body)
        requests = [event.number for event in cluster.trace.events("request", api="OffsetForLeaderEpoch")]
        assert [row["request"] for row in decided(cluster, name=NAME)] == requests


def test_decisions_of_followers_belong_to_no_request() -> None:
    policies = {"follower-truncation@broker:3": "epoch-v0"}
    options: dict[str, Any] = {"topics": {"t": 1}, "config": REPLICATED, "policies": policies}
    with MockCluster(kafka="2.3", trace=True, **options) as cluster:
        produce(cluster, 3)
        cluster.move_leader("t", 0, to=2)
        wanted: dict[str, Any] = {"name": "follower-truncation", "answered": [3, True]}
        told = [cluster.trace.wait("decision", broker=broker, **wanted).row() for broker in (1, 3)]
    assert [(row["answer"], row["source"], row["scope"], row["request"]) for row in told] == [
        ("epoch", "release", "", None),
        ("epoch-v0", "chosen", "@broker:3", None),
    ]
    logs = [row["asked"]["log"] for row in told]
    assert [(log["end_offset"], log["latest_epoch"]) for log in logs] == [(3, 0), (3, 0)]


def test_files_have_decisions(tmp_path: Path) -> None:
    with MockCluster(
        brokers=1, topics={"t": 1}, trace=True, policies={"undefined-epoch": Halfway()}
    ) as cluster:
        produce(cluster, 4)
        end_of_epoch(cluster, 7)
        for name in ("trace.jsonl", "trace.parquet"):
            cluster.trace.write(tmp_path / name)
        (told,) = cluster.trace.events("decision", name=NAME)
    lines = read_json_lines(tmp_path / "trace.jsonl")
    assert [each for each in lines if each.number == told.number] == [told]
    rows = pq.read_table(tmp_path / "trace.parquet").to_pylist()
    (row,) = [row for row in rows if row["name"] == NAME]
    assert (row["source"], row["asked"], row["answered"]) == (
        "own",
        '{"latest_epoch":0,"log_end_offset":4}',
        "[0,2]",
    )
    assert str(told).endswith(
        "undefined-epoch=Halfway (own) for t on broker 1: latest epoch 0, log end offset 4 -> [0, 2]"
    )


def watched(overrides: Mapping[str, Any]) -> tuple[WatchedPolicies, list[Decision]]:
    told: list[Decision] = []
    policies = Policies(releases.parse("4.4"), overrides)
    return WatchedPolicies(policies, told.append), told


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_answer_is_told_under_the_name_of_its_behaviour(name: str) -> None:
    behaviour = CATALOGUE[name]
    for answer in behaviour.answers:
        policies, told = watched({name: answer})
        expected = Policies(releases.parse("4.4"), {name: answer})[behaviour]
        for _ in range(2):
            told.clear()
            found = policies[behaviour]
            if callable(expected):
                assert (found.args, told) == ((behaviour, expected), [])
            else:
                assert found == expected
                assert [(each.name, each.answer, each.asked) for each in told] == [(name, answer, None)]


def test_nothing_is_watched_before_it_is_asked_for() -> None:
    with MockCluster(brokers=1) as cluster:
        assert cluster.run(lambda core: type(core.policies)) is Policies
        cluster.trace.events()
        assert cluster.run(lambda core: type(core.policies)) is WatchedPolicies
