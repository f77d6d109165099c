"""From an incident in a report to files that show it."""

import json
import shutil
import tarfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.pipeline.errors import PipelineError
from mockbroker.pipeline.reproduce import files, searching
from mockbroker.pipeline.reproduce.files import try_out, write
from mockbroker.pipeline.reproduce.kinds import kind_of
from mockbroker.pipeline.reproduce.matching import matched
from mockbroker.pipeline.reproduce.reading import Recorded, read
from mockbroker.pipeline.reproduce.searching import search
from mockbroker.simulation.history import happen

RECORDINGS = Path(__file__).parent / "recordings"


def report(folder: Path, *signatures: str, why: str = "", evidence: str = "", confidence: str = "") -> Path:
    story = 'broker 3, which was not in sync, was elected leader of orders-0 """'
    told = {"topic": "orders", "why": why, "evidence": [{"text": evidence}], "confidence": confidence}
    events = [{"finding": {"signature": each, **told}} for each in signatures]
    incidents = [{"name": signatures[0], "story": story, "events": events}] if signatures else []
    (folder / "incidents.json").write_text(json.dumps({"schema": 1, "incidents": incidents}))
    return folder


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.long
def test_an_unclean_election_becomes_files_that_fail(tmp_path: Path) -> None:
    incident = report(tmp_path, "unclean-election", "lag-spike", "log-end-fell", "set-back", "set-back")
    out = tmp_path / "out"
    status, told = run(incident, "--out", out, "--histories", 50)
    assert status == 0, told
    assert "shows 3 of 4" in told
    assert [each.split()[-1] for each in told.splitlines() if "not shown" in each] == ["lag-spike"]
    assert told.count("fails with unclean elections, passes with no unclean elections") == 2
    names = {"history.json", "prevented.json", "scenario.toml", "test_incident.py"}
    assert {each.name for each in out.iterdir()} == names


@pytest.mark.parametrize(
    ("signatures", "says"),
    [((), "no incident"), (("slow-load",), "known is admin-reset, assignors-differ, ")],
    ids=["no incident", "another kind"],
)
def test_what_cannot_be_reproduced_is_said(tmp_path: Path, signatures: tuple[str, ...], says: str) -> None:
    out = tmp_path / "out"
    status, told = run(report(tmp_path, *signatures), "--out", out)
    assert (status, out.exists()) == (2, False)
    assert says in told


RETENTION = "the log begins behind the position: retention or DeleteRecords took what was to be read"
DELETED = "Incremented log start offset to 900 due to segment deletion"
FOLLOWED = "Incremented log start offset to 900 due to leader offset increment"
KINDS = (
    *(
        ("cut-off-leader", ""),
        ("log-start-past-log-end", ""),
        ("offset-rewind", ""),
        ("producer-expired", ""),
    ),
    *(("reset-to-earliest", RETENTION), ("spurious-sequence-error", ""), ("tombstone-of-live-group", "")),
    *(("truncation-gap", ""), ("undefined-epoch", ""), ("unreplicated-tail-lost", "")),
    *(("records-deleted", ""), ("retention-lowered", "")),
)


@pytest.mark.parametrize(("name", "why"), KINDS)
def test_an_incident_is_shown_and_can_be_prevented(name: str, why: str, tmp_path: Path) -> None:
    (incident,) = read(report(tmp_path, name, why=why, evidence=DELETED if why else ""))
    kind = kind_of(incident)
    found = search(incident, kind, None, 1, 500)
    assert found is not None
    assert found.matched == {0}
    if kind.invariant is None:
        return
    violated = [
        {each.invariant for each in happen(plan).violations} for plan in (found.plan, found.prevented)
    ]
    assert [kind.invariant in each for each in violated] == [True, False]


FENCED = "another producer began with its transactional id, in a newer epoch, and the first was refused"
TIMED_OUT = "its transaction had timed out: the coordinator aborted it shortly before"
OF_4 = "the log of the coordinator says so"
OF_GROUP = "GroupAuthorizationException: Not authorized to access group: billing"
OF_TOPIC = "Principal = User:reader is Denied operation = READ on resource = Topic:LITERAL:orders"
KEYLESS = "the broker said why, and the files have the policy"
UNTIMELY = "the broker said so, and named the time of a record"
CAME_BACK = f"{OF_4}, and each time the member joined again at once"
DISABLED = "Cannot upgrade classic group billing to consumer group because online upgrade is disabled."
EVIDENCE = {"migration-refused": DISABLED, OF_GROUP: OF_GROUP, OF_TOPIC: OF_TOPIC}
OF_CLUSTERS = (
    *(("coordinator-moved-while-loading", ""), ("hanging-transaction", ""), ("offsets-expired", "")),
    *(("open-transaction", ""), ("poll-overrun", ""), ("producer-fenced", FENCED)),
    *(("producer-fenced", TIMED_OUT), ("record-too-large", ""), ("too-few-in-sync", "")),
    *(("topic-recreated", ""), ("transactional-id-expired", "")),
    *(("admin-reset", ""), ("compacted-before-read", ""), ("timestamps-too-old", "")),
    *(("only-replica-lost", ""), ("record-corrupt", "")),
    *(("assignors-differ", ""), ("group-full", ""), ("instance-id-shared", "")),
    *(("group-never-settles", ""), ("joined-too-early", ""), ("migration-refused", "")),
    *(("partitions-found-late", ""), ("never-committed", ""), ("rebalance-timeout", "")),
    ("record-unreadable", ""),
    ("partition-paused", ""),
    *(("delivery-limit-reached", ""), ("share-offsets-reset", "")),
    *(("session-timeout", OF_4), ("session-timeout", CAME_BACK), ("controller-away", "")),
    *(("broker-unresolved", ""), ("commit-past-log-end", ""), ("not-authorized", OF_GROUP)),
    *(("not-authorized", OF_TOPIC), ("records-invalid", KEYLESS), ("records-invalid", UNTIMELY)),
    *(("reassignment-stuck", ""), ("group-deleted", ""), ("topic-deleted", ""), ("leader-away", "")),
)


REASONS = {
    "assignors-differ": "INCONSISTENT_GROUP_PROTOCOL",
    "coordinator-moved-while-loading": "it is told no offset",
    "group-full": "GROUP_MAX_SIZE_REACHED",
    "instance-id-shared": "FENCED_INSTANCE_ID",
    "joined-too-early": "Unknown broker error",
    "only-replica-lost": "nobody has the records",
    "migration-refused": "The group id does not exist",
    "poll-overrun": "_ASSIGNMENT_LOST",
    "producer-fenced": "_FENCED",
    "rebalance-timeout": "UNKNOWN_MEMBER_ID",
    "record-corrupt": "it gets no further",
    "record-unreadable": "invalid literal for int",
    "session-timeout": "UNKNOWN_MEMBER_ID",
    "transactional-id-expired": "INVALID_PRODUCER_ID_MAPPING",
}
"""What clients are told; all others fail in the last line of their test, in what it asserts."""


def variants(file: Path) -> dict[str, Callable[[], None]]:
    """The variants of a test that was written, by name."""
    made: dict[str, Any] = {}
    exec(compile(file.read_text(), file, "exec"), made)
    (test,) = (each for name, each in made.items() if name.startswith("test_"))
    (mark,) = test.pytestmark
    return {each.id: partial(test, *each.values) for each in mark.args[1]}


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated")  # by kafka-python, as it is imported
@pytest.mark.parametrize(("name", "why"), OF_CLUSTERS)
def test_a_test_with_a_cluster_fails_as_the_incident_did(name: str, why: str, tmp_path: Path) -> None:
    group = 'a "group"\n'
    told = EVIDENCE.get(why) or EVIDENCE.get(name, "")
    incident = Recorded(name, "what happened", "orders", (name,), why, told, group, "certain")
    kind = kind_of(incident)
    assert search(incident, kind, None, 1, 1) is None
    write(tmp_path, incident, kind, None)
    assert [each.name for each in tmp_path.iterdir()] == ["test_incident.py"]
    tests = variants(tmp_path / "test_incident.py")
    assert set(tests) == {"incident", "prevented"}
    tests["prevented"]()
    with pytest.raises((AssertionError, pytest.fail.Exception)) as failed:
        tests["incident"]()
    if name in REASONS:
        assert REASONS[name] in str(failed.value)
    else:
        lines = (tmp_path / "test_incident.py").read_text().count("\n")
        assert failed.traceback[-1].lineno + 1 == lines


def test_what_is_only_possible_is_refused(tmp_path: Path) -> None:
    said = "the files don't tell whether its coordinator knows of it"
    found = report(tmp_path, "open-transaction", why=said, confidence="possible")
    status, told = run(found, "--out", tmp_path / "out")
    assert (status, (tmp_path / "out").exists()) == (2, False)
    assert f"can't be reproduced, because it is only possible: {said}" in " ".join(told.split())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("codec-unknown", "confluent-kafka has all of them"),
        ("connections-rejected", "does not count the connections"),
        ("clock-stepped", "have one clock"),
    ],
)
def test_why_an_incident_can_not_be_shown_is_said(name: str, says: str, tmp_path: Path) -> None:
    status, told = run(report(tmp_path, name), "--out", tmp_path / "out")
    assert (status, (tmp_path / "out").exists()) == (2, False)
    assert says in " ".join(told.split())


def test_a_producer_of_which_nobody_knows_who_fenced_it_is_refused() -> None:
    incident = Recorded("producer-fenced", "", "orders", (), "the client was told so", confidence="likely")
    with pytest.raises(PipelineError, match=r"producer-fenced \(if another producer had begun\)"):
        kind_of(incident)


@pytest.mark.parametrize(
    ("name", "why", "told", "known"),
    [
        ("migration-refused", OF_4, "because an unsupported custom assignor is in use", "don't let groups"),
        ("session-timeout", "it was silent", "", r"session-timeout \(in a classic group\)"),
    ],
)
def test_members_of_whom_the_files_tell_too_little_are_refused(
    name: str, why: str, told: str, known: str
) -> None:
    incident = Recorded(name, "", "orders", (), why, told, confidence="certain")
    with pytest.raises(PipelineError, match=known):
        kind_of(incident)


def test_a_history_fails_that_violates_an_invariant(tmp_path: Path) -> None:
    status, told = run(report(tmp_path, "truncation-gap"), "--out", tmp_path / "out")
    assert status == 0, told
    assert "fails with offsets committed without epochs, passes with offsets committed with epochs" in told


def test_records_that_somebody_deleted(tmp_path: Path) -> None:
    told = "Incremented log start offset to 900 due to client delete records request"
    incident = Recorded("reset-to-earliest", "", "orders", ("reset-to-earliest",), RETENTION, told)
    kind = kind_of(incident)
    (tmp_path / "conftest.py").write_text("raise RuntimeError('of another project')")
    folder = tmp_path / "out"
    folder.mkdir()
    write(folder, incident, kind, search(incident, kind, "4.4", 1, 1))
    assert try_out(folder, kind) == {"test_incident.py": (True, True), "scenario.toml": (True, True)}


def test_what_the_evidence_does_not_tell_apart_is_refused() -> None:
    """A follower's line does not say what the leader did."""
    incident = Recorded("reset-to-earliest", "", "orders", ("reset-to-earliest",), RETENTION, FOLLOWED)
    with pytest.raises(
        PipelineError, match=r"can't be reproduced: known is .*if its leader deleted segments"
    ):
        kind_of(incident)


@pytest.mark.long
def test_from_a_folder_of_logs_to_a_test_that_fails(tmp_path: Path) -> None:
    logs, out = tmp_path / "logs", tmp_path / "out"
    with tarfile.open(RECORDINGS / "4.4.0-producer-died-in-transaction" / "files.tar.xz") as archive:
        archive.extractall(logs, filter="data")
    status, told = run(logs, "--out", out, "--topic", "orders", "--all")
    assert status == 0, told
    assert (out / "report" / "report.html").exists()
    (test,) = out.glob("1-open-transaction/test_incident.py")
    assert "the transaction of transactional id payments" in test.read_text()
    status, _ = run(out / "report", "--out", tmp_path / "again", "--number", 1)
    assert status == 0
    assert (tmp_path / "again" / "test_incident.py").read_text() == test.read_text()


def test_each_of_several_incidents(tmp_path: Path) -> None:
    """What can't be reproduced is said, and the others are."""
    names, out = ("slow-load", "topic-recreated"), tmp_path / "out"
    told = [json.loads((report(tmp_path, name) / "incidents.json").read_text()) for name in names]
    incidents = [each for one in told for each in one["incidents"]]
    (tmp_path / "incidents.json").write_text(json.dumps({"schema": 2, "incidents": incidents}))
    status, said = run(tmp_path, "--out", out)
    assert (status, "choose an incident with --number, or --all:\n  1  slow-load: " in said) == (2, True)
    status, said = run(tmp_path, "--out", out, "--all")
    assert status == 0, said
    assert "slow-load can't be reproduced" in said
    assert [each.name for each in out.iterdir()] == ["2-topic-recreated"]
    shutil.rmtree(out)
    (tmp_path / "incidents.json").write_text(json.dumps({"schema": 2, "incidents": incidents[:1]}))
    status, said = run(tmp_path, "--out", out, "--all")
    assert (status, "none of the incidents can be reproduced" in said, out.exists()) == (2, True, False)


def test_a_report_of_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "incidents.json").write_text(json.dumps({"schema": 3, "incidents": []}))
    with pytest.raises(PipelineError, match="has schema 3, this mockbroker knows 2"):
        read(tmp_path)


def test_what_its_test_needs_is_asked_for_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "find_spec", lambda name: None if name == "pytest" else find_spec(name))
    monkeypatch.setattr(searching, "search", None)
    status, told = run(report(tmp_path, "unclean-election"), "--out", tmp_path / "out")
    assert (status, told.strip().endswith("pip install pytest")) == (2, True), told
    assert not (tmp_path / "out").exists()


def test_no_history_that_shows_it(tmp_path: Path) -> None:
    status, told = run(report(tmp_path, "truncation-gap"), "--out", tmp_path / "out", "--histories", 1)
    assert (status, (tmp_path / "out").exists()) == (2, False)
    assert "none of 1 histories of Kafka 3.9 shows truncation-gap: try more with --histories" in told


def test_a_longest_part_in_order_is_matched() -> None:
    assert matched("abc", "bxc") == {1, 2}
    assert matched("abc", "cab") == {0, 1}
    assert matched("abc", "abc") == {0, 1, 2}
    assert matched("abc", "") == set()
