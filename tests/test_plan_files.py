"""Files of experiments: those of today, and those from before they had versions (`old_plans`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mockbroker.clients.hunt import writing
from mockbroker.clients.hunt.plan import Plan as HuntPlan
from mockbroker.clients.hunt.plan import PlannedTopic, PlannedUser
from mockbroker.clients.hunt.plan import Step as HuntStep
from mockbroker.conformance.differential import recordings
from mockbroker.conformance.differential.recordings import Recorded
from mockbroker.conformance.differential.steps import Sequence
from mockbroker.conformance.differential.steps import Step as Request
from mockbroker.conformance.fuzz import steps as fuzz
from mockbroker.conformance.fuzz.steps import Close, Do, Send, Session
from mockbroker.plan_files import PlanError, Schema, as_row
from mockbroker.simulation.consumer_setting import Commit, ConsumerSetting, Reset
from mockbroker.simulation.group_setting import GroupSetting
from mockbroker.simulation.plan import Plan, Step
from mockbroker.simulation.producer_setting import Generation, ProducerSetting

OLD = Path(__file__).parent / "old_plans"
HISTORY = Plan(
    7,
    "4.3",
    {"undefined-epoch": "log-end-offset"},
    ConsumerSetting(Commit.MAX_EPOCH, Reset.LATEST),
    (ProducerSetting(Generation.V1_0, in_flight=5),),
    unclean=True,
    group=GroupSetting(2, 1, static=True, assignors=("uniform", "")),
    steps=(
        Step(0, "rebalance"),
        Step(90, "produce", {"producer": 0, "count": 2}),
        Step(400, "cut-off-broker", {"broker": 1}),
    ),
)
PLAN = HuntPlan(
    3,
    "4.4",
    1,
    (PlannedTopic("t", 2, {"cleanup.policy": "compact"}),),
    (
        PlannedUser("m", "member", {}, {"topics": ["t"], "group": "g"}, (HuntStep("poll", 50),)),
        PlannedUser(
            "p",
            "producer",
            {"acks": "all"},
            {},
            (HuntStep("send", 20, {"topic": "t", "partition": 1, "count": 3}),),
        ),
    ),
    (HuntStep("stop-broker", 100, {"broker": 1}), HuntStep("start-broker", 300, {"broker": 1})),
    {"broker.session.timeout.ms": "1500"},
)
SESSION = Session(
    "raw",
    9,
    "2.8",
    True,
    [
        Send(0, 1, bytes.fromhex("0000000e001000000000000100046675"), (5,)),
        Do("clock advance", {"by": "1s"}),
        Send(1, 2, b"\0\0"),
        Close(0),
    ],
)
SEQUENCE = Sequence(
    "1:5",
    (
        Request(
            "fetch",
            11,
            {"topics": [{"topic": "t~"}], "session_id": {"$session": 0}},
            client=1,
            binds=0,
            broker=("t~", 0),
        ),
        Request("stop_broker", 0, {}, broker=2),
        Request("heartbeat", 3, {}, mutations=(("set", 1, 9), ("cut", 2))),
    ),
    None,
    3,
)
RECORDED = Recorded(
    "4.4.0", "fetch error_code: NONE != OTHER", SEQUENCE, [{"error_code": "NONE"}, {}, {}, []], (), 2
)


class Kind(NamedTuple):
    """A kind of file: an old one, what is in it, and how it is read and written."""

    old: str
    holds: Any
    read: Callable[[Path], Any]
    write: Callable[[Path, Any], object]


KINDS = [
    Kind(
        "history.json",
        HISTORY,
        lambda path: Plan.from_json(path.read_text()),
        lambda path, plan: path.write_text(plan.to_json()),
    ),
    Kind("plan.json", PLAN, writing.read, lambda path, plan: path.write_text(plan.to_json())),
    Kind("session.txt", SESSION, fuzz.read, lambda path, session: session.write(path, ["what went wrong"])),
    Kind("sequences.json", [RECORDED], recordings.load, recordings.save),
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.old)


@every_kind
def test_an_old_file_is_read(kind: Kind) -> None:
    assert kind.read(OLD / kind.old) == kind.holds


@every_kind
def test_a_file_says_what_it_is_and_is_read_again(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "file"
    kind.write(path, kind.holds)
    assert '"schema": "mockbroker-' in path.read_text()
    assert kind.read(path) == kind.holds


@every_kind
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"version": 1', '"version": 2', "of version 2: this mockbroker knows 1"),
        ('"schema": "mockbroker-', '"schema": "', "its schema is"),
        ('"kafka"', '"kafak"', "kafka"),
    ],
)
def test_what_is_no_such_file_is_refused(
    kind: Kind, before: str, after: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    kind.write(path, kind.holds)
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises((ValueError, KeyError), match=said):
        kind.read(path)


def test_a_step_that_is_none_is_told_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "file"
    SESSION.write(path)
    path.write_text(path.read_text().replace('"data": "0000"', '"data": "00zz"'))
    with pytest.raises(ValueError, match="step 3: not a session: non-hexadecimal"):
        fuzz.read(path)


def test_defaults_are_left_out_of_rows() -> None:
    assert as_row(Request("fetch", 3, {})) == {"api": "fetch", "version": 3, "fields": {}}


def test_values_have_to_be_of_their_kind() -> None:
    schema = Schema("x", 1, "an x")
    wrong: Any
    for wrong in ({"name": "t"}, {"name": "t", "partition": 2}, []):
        with pytest.raises(PlanError, match="not an x: "):
            schema.built(PlannedTopic, wrong)
    with pytest.raises(PlanError, match="is not a list"):
        schema.built(PlannedUser, {"name": "u", "kind": "member", "steps": "poll"})
