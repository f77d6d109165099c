"""Random sequences: what was found in them stays mended, and the machinery around them works."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mockbroker.cluster_options import unchecked
from mockbroker.conformance.differential import recordings
from mockbroker.conformance.differential.__main__ import app
from mockbroker.conformance.differential.acknowledging import SHAPES, batches
from mockbroker.conformance.differential.comparing import first_difference
from mockbroker.conformance.differential.connecting import configured
from mockbroker.conformance.differential.coordinating import GROUPS, TRANSACTIONS
from mockbroker.conformance.differential.generating import sequence
from mockbroker.conformance.differential.generating.drawing import families
from mockbroker.conformance.differential.generating.world import topic_to_create
from mockbroker.conformance.differential.recordings import RECORDED, Recorded
from mockbroker.conformance.differential.replaying import replay
from mockbroker.conformance.differential.running import Pair
from mockbroker.conformance.differential.shrinking import shrunk
from mockbroker.conformance.differential.steps import (
    ASIDE,
    KILL,
    MOVE,
    RESTARTS,
    START,
    STOP,
    Sequence,
    Step,
)
from mockbroker.conformance.differential.streams_binding import SHAPES as TASKS
from mockbroker.conformance.differential.streams_binding import StreamsBindings
from mockbroker.protocol.api_keys import CODEC_VERSIONS
from mockbroker.rig.client import Known, known_fields
from mockbroker.server.mock_cluster import MockCluster

FAMILIES = [(brokers, family) for brokers in (1, 3) for family in families(brokers)]
VERSIONS = {key.name.lower(): list(range(low, high + 1)) for key, (low, high) in CODEC_VERSIONS.items()}


@pytest.mark.long
@pytest.mark.parametrize("file", sorted(RECORDED.glob("*.json")), ids=lambda file: file.stem)
def test_what_was_mended_is_answered_as_by_a_real_broker(file: Path) -> None:
    recorded = recordings.load(file)
    assert recorded
    different = {
        f"{each.sequence.name}: {found.signature}": found.parts[:5]
        for each, found in replay(recorded)
        if found is not None
    }
    assert not different


@pytest.mark.parametrize(("brokers", "family"), FAMILIES)
@pytest.mark.parametrize("malformed", [False, True])
def test_a_seed_is_one_sequence_that_json_can_hold(brokers: int, family: str, malformed: bool) -> None:
    made, again = (
        [
            sequence(7, number, VERSIONS, malformed_steps=malformed, family=family, brokers=brokers)
            for number in range(20)
        ]
        for _ in range(2)
    )
    assert made == again
    for each in made:
        assert 10 <= len(each.steps) <= 25
        assert any(step.mutations for step in each.steps) == malformed
        kept = json.loads(json.dumps(Recorded("4.4.0", "x", each, []).as_json()))
        assert recordings.from_json(kept).sequence == each


@pytest.mark.parametrize(("brokers", "family"), FAMILIES)
def test_only_fields_are_asked_that_requests_have_in_some_version(brokers: int, family: str) -> None:
    def unknown(value: Any, known: Known) -> Iterator[str]:
        if isinstance(value, dict):
            for name, inner in value.items():
                if not name.startswith("$"):
                    yield from unknown(inner, known[name]) if name in known else [name]
        elif isinstance(value, list):
            for inner in value:
                yield from unknown(inner, known)

    made = [sequence(3, number, VERSIONS, family=family, brokers=brokers) for number in range(100)]
    steps = [step for each in made for step in each.steps if step.api not in ASIDE]
    assert not {(step.api, name) for step in steps for name in unknown(step.fields, known_fields(step.api))}


def test_every_api_is_drawn() -> None:
    drawn = {
        step.api
        for brokers, family in (
            *((1, None), (3, None)),
            *((1, "access"), (1, "consumer-groups"), (1, "share-groups"), (1, "streams-groups")),
            *((1, "cluster"), (1, "telemetry"), (1, "delegation-tokens")),
        )
        for number in range(300)
        for step in sequence(1, number, VERSIONS, brokers=brokers, family=family).steps
    }
    # What DescribeLogDirs says of volumes is not a broker's.
    undrawn = {"api_versions", "sasl_handshake", "sasl_authenticate", "describe_log_dirs"}
    undrawn |= {"unregister_controller"}
    assert set(VERSIONS) - drawn <= undrawn


def test_of_several_brokers_each_is_asked_and_nothing_is_placed_at_random_that_is_asked_of_later() -> None:
    asked: dict[str, set[Any]] = {}
    for number in range(100):
        at_random: set[str] = set()
        placed: dict[str, int] = {}
        for step in sequence(5, number, VERSIONS, brokers=3).steps:
            asked.setdefault(step.api, set()).add(step.broker if isinstance(step.broker, int) else "leader")
            if step.api == "metadata":
                assert not step.fields["allow_auto_topic_creation"]
                assert step.version >= 4
            elif step.api == "create_topics":
                at_random |= {each["name"] for each in step.fields["topics"] if not each["assignments"]}
                placed |= {each["name"]: len(each["assignments"]) for each in step.fields["topics"]}
            elif step.api == "create_partitions" and not step.fields["validate_only"]:
                grown = [each for each in step.fields["topics"] if each["assignments"] is None]
                assert all(each["count"] <= placed.get(each["name"], 1) for each in grown)
            elif step.api in ("produce", "fetch", "list_offsets"):
                topics = step.fields.get("topics") or step.fields.get("topic_data") or ()
                assert not {each.get("name", each.get("topic")) for each in topics} & at_random - {"t0~"}
    assert asked["produce"] >= {0, 1, 2, "leader"}
    assert asked["fetch"] >= {0, 1, 2, "leader"}
    assert asked["elect_leaders"] == {0, 1, 2}


def test_brokers_are_stopped_that_are_up_and_never_the_first() -> None:
    found = set()
    for number in range(300):
        down: set[Any] = set()
        for step in sequence(5, number, VERSIONS | {each: [0] for each in RESTARTS}, brokers=3).steps:
            if step.api == STOP:
                assert step.broker not in down
                down.add(step.broker)
                found.add(frozenset(down))
            elif step.api == START:
                assert step.broker in down
                down.remove(step.broker)
    assert found == {frozenset(each) for each in ({1}, {2}, {1, 2})}


def test_after_a_kill_a_produce_comes_at_once_or_when_the_session_has_timed_out() -> None:
    versions = VERSIONS | {each: [0] for each in RESTARTS}
    found = set()
    for number in range(100):
        steps = sequence(5, number, versions, family="faults", brokers=3).steps
        for step, after in pairwise(steps):
            if step.api == KILL:
                assert step.broker in (1, 2)
                found.add(step.fields.get("at_once", False))
                assert not step.fields.get("at_once") or after.api == "produce"
    assert found == {True, False}


def test_brokers_are_stopped_only_where_that_can_be_done() -> None:
    steps = [step for number in range(300) for step in sequence(5, number, VERSIONS, brokers=3).steps]
    assert not {step.api for step in steps} & RESTARTS


def test_coordinators_move_and_are_asked_where_they_are() -> None:
    asked: dict[str, set[Any]] = {}
    for family, number in product(("groups", "transactions"), range(100)):
        for step in sequence(5, number, VERSIONS | {MOVE: [0]}, family=family, brokers=3).steps:
            asked.setdefault(step.api, set()).add(step.broker)
            if step.api == MOVE:
                asked.setdefault("moved", set()).add(step.fields["topic"])
    assert asked[MOVE] == {0, 1, 2}
    assert asked["moved"] == {GROUPS, TRANSACTIONS}
    assert asked["heartbeat"] == asked["txn_offset_commit"] == {0, 1, 2, (GROUPS, 0)}
    assert asked["end_txn"] == {0, 1, 2, (TRANSACTIONS, 0)}


def test_members_of_share_groups_go_on_with_their_sessions_and_acknowledge_what_they_acquired() -> None:
    found: dict[str, set[Any]] = {}
    for number in range(200):
        for step in sequence(5, number, VERSIONS, family="share-groups").steps:
            if step.api in ("share_fetch", "share_acknowledge"):
                found.setdefault(step.api, set()).add(str(step.fields["share_session_epoch"])[:15])
                for topic in step.fields["topics"]:
                    for part in topic["partitions"]:
                        said = part["acknowledgement_batches"]
                        if isinstance(said, dict):
                            found.setdefault("shapes", set()).add(said["$acquired"][3])
            elif step.api in ASIDE:
                found.setdefault("aside", set()).add(step.api)
    assert found["share_fetch"] >= {"0", "-1", "{'$share_sessio"}
    assert found["share_acknowledge"] >= {"0", "-1", "{'$share_sessio"}
    assert found["shapes"] == set(SHAPES)
    assert found["aside"] == ASIDE


@pytest.mark.parametrize(
    ("shape", "ranges"),
    [
        ("each", [(2, 4, [1]), (7, 7, [2])]),
        ("each typed", [(2, 4, [1, 2, 1]), (7, 7, [2])]),
        ("whole", [(2, 7, [1])]),
        ("records", [(2, 2, [1]), (3, 3, [2]), (4, 4, [1]), (7, 7, [2])]),
        ("beyond", [(2, 9, [1])]),
        ("inside out", [(7, 2, [1])]),
    ],
)
def test_what_was_acquired_is_acknowledged_in_many_shapes(
    shape: str, ranges: list[tuple[int, int, list[int]]]
) -> None:
    found = batches(shape, [(2, 4), (7, 7)], [1, 2])
    assert [tuple(each.values()) for each in found] == ranges


def test_members_of_streams_groups_say_what_they_were_told_and_much_else() -> None:
    found: dict[str, set[Any]] = {}
    for number in range(200):
        for step in sequence(5, number, VERSIONS, family="streams-groups").steps:
            if step.api == "streams_group_heartbeat":
                epoch, tasks = step.fields["member_epoch"], step.fields["active_tasks"]
                found.setdefault("epochs", set()).add(epoch if isinstance(epoch, int) else "known")
                found.setdefault("shapes", set()).add(tasks["$tasks"][2] if isinstance(tasks, dict) else "")
                topology = step.fields["topology"] or {"subtopologies": []}
                found.setdefault("sizes", set()).add(len(topology["subtopologies"]))
            elif step.api in ("offset_commit", "txn_offset_commit"):
                claimed = step.fields.get("generation_id_or_member_epoch", step.fields.get("generation_id"))
                found.setdefault(step.api, set()).add(str(claimed)[:16])
    assert found["epochs"] >= {0, -1, -2, "known"}
    assert found["shapes"] == {"", *TASKS}
    assert found["sizes"] == {0, 1, 2, 3}
    assert "{'$streams_epoch" in found["offset_commit"] & found["txn_offset_commit"]


@pytest.mark.parametrize(
    ("shape", "partitions"),
    [
        ("all", [[1, 2], [0]]),
        ("none", []),
        ("fewer", [[1]]),
        ("more", [[1, 2, 3], [0, 1]]),
        ("backwards", [[0], [2, 1]]),
    ],
)
def test_a_member_has_what_it_was_told_in_many_shapes(shape: str, partitions: list[list[int]]) -> None:
    bound = StreamsBindings()
    told = [{"subtopology_id": "0", "partitions": [1, 2]}, {"subtopology_id": "1", "partitions": [0]}]
    answer = {"error_code": "NONE", "member_epoch": 3, "endpoint_information_epoch": 1}
    bound.learn(4, {**answer, "active_tasks": told, "standby_tasks": [], "warmup_tasks": []})
    bound.learn(4, {**answer, "active_tasks": None})
    assert bound.epoch(4, -1) == 2
    assert [each["partitions"] for each in bound.tasks(4, "active_tasks", shape)] == partitions


@contextmanager
def _ours_twice(policies: Any) -> Iterator[Pair]:
    """Two of our brokers, one of them with other behaviours."""
    config = configured("4.4.0")
    with (
        MockCluster(kafka=unchecked("4.4.0"), brokers=1, config=config, policies=policies) as other,
        Pair("4.4.0", other.bootstrap_servers) as pair,
    ):
        yield pair


@pytest.mark.long
@pytest.mark.parametrize("family", ["share-groups", "streams-groups"])
def test_groups_are_answered_alike_each_time(family: str) -> None:
    with _ours_twice({}) as pair:
        for number in range(3):
            drawn = sequence(3, number, pair.versions, family=family)
            assert pair.difference(drawn) is None


def test_a_coordinator_that_assigns_tasks_otherwise_is_noticed() -> None:
    subtopology = {"subtopology_id": "0", "source_topics": ["t0~"]}
    nothing: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
    joining = {
        "group_id": "g0~",
        "member_epoch": 0,
        "rebalance_timeout": 60_000,
        "client_tags": [],
        **nothing,
    }
    joining["topology"] = {"epoch": 0, "subtopologies": [subtopology]}
    created = {"topics": [topic_to_create("t0~", [], 4, 1)], "timeout": 10_000, "validate_only": False}
    steps = (
        Step("create_topics", 4, created),
        *(
            Step("streams_group_heartbeat", 0, {**joining, "member_id": f"member{each}", "process_id": each})
            for each in "ABCD"
        ),
        Step("streams_group_describe", 0, {"group_ids": ["g0~"]}),
    )
    with _ours_twice({"previous-tasks": "target"}) as pair:
        difference = pair.difference(Sequence("assigned", steps))
    assert difference is not None
    assert difference.api == "streams_group_describe"


def test_a_share_coordinator_that_answers_otherwise_is_noticed() -> None:
    named = {"group_id": "g0~"}
    topic: dict[str, Any] = {"topic_id": {"$topic_id": "t0~"}}
    begun = {**topic, "partitions": [{"partition": 0, "state_epoch": 0, "start_offset": 0}]}
    asked = {**topic, "partitions": [{"partition": 0, "leader_epoch": 0}]}
    created = {"topics": [topic_to_create("t0~", [], 1, 1)], "timeout": 10_000, "validate_only": False}
    steps = (
        Step("create_topics", 4, created),
        Step("initialize_share_group_state", 0, {**named, "topics": [begun]}),
        Step("read_share_group_state_summary", 1, {**named, "topics": [asked]}),
    )
    with _ours_twice({"initial-complete-count": "unknown"}) as pair:
        found = pair.difference(Sequence("1:1", steps))
    assert found is not None
    assert found.step == 2
    assert found.parts == (("results[0].partitions[0].delivery_complete_count", -1, 0),)


def _answers(steps: tuple[Step, ...], spoiled: Any) -> list[Any]:
    """As of a broker that answers 0, but what is `spoiled` once something was created."""
    created = any(step.api == "create_topics" for step in steps)
    return [spoiled if created and step.api == "fetch" else {"error_code": "NONE"} for step in steps] + [[]]


def test_a_difference_is_shrunk_to_the_steps_that_it_takes() -> None:
    apis = ["heartbeat"] * 4 + ["create_topics"] + ["produce"] * 5 + ["fetch"] + ["metadata"] * 6
    long = Sequence("1:1", tuple(Step(api, 0, {"topics": [{"name": "a"}, {"name": "b"}]}) for api in apis))

    def attempt(candidate: Sequence) -> Any:
        expected = _answers(candidate.steps, {"error_code": "NONE"})
        return first_difference(candidate, expected, _answers(candidate.steps, {"error_code": "OTHER"}))

    difference = attempt(long)
    assert difference.step == 10
    assert difference.signature == "fetch error_code: NONE != OTHER"
    small = shrunk(long, difference, attempt, 60)
    assert [step.api for step in small.steps] == ["create_topics", "fetch"]
    assert [step.fields for step in small.steps] == [{"topics": [{"name": "b"}]}] * 2


def test_a_signature_leaves_out_what_is_by_chance() -> None:
    one = Sequence("1:1", (Step("produce", 9, {}),))
    left = first_difference(one, [{"a": [{"offset": 5}]}, []], [{"a": [{"offset": 7}]}, []])
    right = first_difference(one, [{"a": [{"offset": 8}]}, []], [{"a": [{"offset": 2}]}, []])
    assert left is not None
    assert right is not None
    assert left.signature == right.signature
    assert left.parts != right.parts


def test_a_file_is_replayed_from_the_command_line(tmp_path: Path) -> None:
    step = Step("find_coordinator", 1, {"key": "g~", "key_type": 9})
    right = [{"throttle_time": 0, "error_code": "INVALID_REQUEST"}, []]
    file = tmp_path / "one.json"
    recordings.save(file, [Recorded("4.4.0", "x", Sequence("1:1", (step,)), right)])
    done = CliRunner().invoke(app, ["--replay", str(file)])
    assert done.exit_code == 1
    assert "1 differently" in done.output
    assert CliRunner().invoke(app, ["--replay", str(tmp_path / "none.json")]).exit_code == 2
