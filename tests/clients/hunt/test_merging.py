"""What campaigns leave behind: findings by their cause, the worst first, and folders that merge."""

from dataclasses import replace
from pathlib import Path

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.hunt.campaign import Found, Result
from mockbroker.clients.hunt.coverage import Coverage
from mockbroker.clients.hunt.drawing import DRAWING
from mockbroker.clients.hunt.harm import Harm, harm_of
from mockbroker.clients.hunt.journal import Ended, Journal
from mockbroker.clients.hunt.judging import Violation
from mockbroker.clients.hunt.known import (
    KnownError,
    KnownViolation,
    covering,
    of_findings,
    read_known,
    write_known,
)
from mockbroker.clients.hunt.merging import CampaignRecord, merge, records, write_campaign
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step
from mockbroker.clients.hunt.stage import Outcome
from mockbroker.clients.hunt.writing import Groups, Record, read, write

CLIENT = "client 1.0"
USER = PlannedUser("t", "transactions", steps=(Step("transact"),))


def result(seed: int, invariant: str, error: str, steps: int, *, sure: bool = True) -> Result:
    happened = tuple(Step("stop-broker", fields={"broker": n}) for n in range(steps))
    plan = Plan(
        seed, "4.4", 3, (PlannedTopic("x", 1),), (USER,), happened, workload="transactions", drawing=DRAWING
    )
    outcome = Outcome(plan, Journal())
    refusal = Refusal(error, f"what {seed} says")
    outcome.journal.add(Ended(user="t", transaction=1, commits=True, error=refusal))
    outcome.journal.add(Ended(user="t", transaction=2, commits=True, error=Refusal("Other", "")))
    found = Found(Violation(invariant, "t", f"no more: {refusal}"), outcome, int(sure), 1)
    return Result(seed, CLIENT, plan, [found])


def folder(path: Path, *results: Result) -> Path:
    groups = Groups()
    for each in results:
        groups.add(each)
    for group in groups:
        write(path, group, CLIENT, group.best.outcome, [])
    seeds = tuple(each.seed for each in results)
    coverage = Coverage()
    for each in results:
        coverage.of(CLIENT, "4.4").add(each.plan, each.acted)
    write_campaign(path, CampaignRecord(CLIENT, "4.4", DRAWING, seeds), coverage)
    return path


def test_causes_are_told_apart_by_their_errors() -> None:
    groups = Groups()
    for each in (
        result(1, "unusable", "Fenced", 2),
        result(2, "unusable", "TimedOut", 1),
        result(3, "unusable", "Fenced", 1, sure=False),
        result(4, "acknowledged-lost", "Fenced", 3, sure=False),
        result(5, "a-new-invariant", "Fenced", 0),
    ):
        groups.add(each)
    ordered = sorted((each.record(CLIENT) for each in groups), key=lambda each: each.order)
    assert [(each.name, each.seeds, each.sure, each.quiet) for each in ordered] == [
        ("acknowledged-lost-transactions-Fenced", (4,), (), ()),
        ("unusable-transactions-Fenced", (1, 3), (1,), ()),
        ("unusable-transactions-TimedOut", (2,), (2,), ()),
        ("a-new-invariant-transactions-Fenced", (5,), (5,), (5,)),
    ]
    assert [str(harm_of(each.invariant)) for each in ordered] == [
        "lost or twice",
        "unusable",
        "unusable",
        "needless",
    ]
    assert [*Harm] == sorted(Harm)


def test_folders_of_several_machines_become_one(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", result(1, "unusable", "Fenced", 3), result(2, "stuck", "E", 1))
    two = folder(tmp_path / "two", result(11, "unusable", "Fenced", 1), result(12, "unusable", "TimedOut", 0))
    whole, found = merge([one, two], tmp_path / "both")
    assert whole.seeds == (1, 2, 11, 12)
    assert [(each.name, each.seeds) for each in found] == [
        ("stuck-transactions-E", (2,)),
        ("unusable-transactions-Fenced", (1, 11)),
        ("unusable-transactions-TimedOut", (12,)),
    ]
    home = tmp_path / "both" / "unusable-transactions-Fenced"
    assert read(home).seed == 11
    assert {path.name for path in (home / "seeds").iterdir()} == {"1.json", "11.json"}
    assert read(home / "seeds" / "1.json").size == 4
    assert sorted(each.name for _, each in records(tmp_path / "both")) == sorted(each.name for each in found)
    assert merge([tmp_path / "both"], tmp_path / "again") == (whole, found)


def test_folders_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", result(1, "stuck", "E", 1))
    (tmp_path / "two").mkdir()
    with pytest.raises(ValueError, match="is no folder of a hunt: it lacks campaign"):
        merge([one, tmp_path / "two"], tmp_path / "both")
    write_campaign(tmp_path / "two", CampaignRecord("client 2.0", "4.4", DRAWING, (1,)), None)
    kinds = rf"different kinds: client 1\.0, Kafka 4\.4, drawing {DRAWING}; client 2\.0"
    with pytest.raises(ValueError, match=kinds):
        merge([one, tmp_path / "two"], tmp_path / "both")
    with pytest.raises(ValueError, match="is not empty: give --out another folder"):
        merge([one], one)


def test_what_is_known_is_covered(tmp_path: Path) -> None:
    home = tmp_path / "found" / "a-defect"
    home.mkdir(parents=True)
    (home / "finding.toml").write_text('client = "c"\n[[hunt]]\ninvariant = "unusable"\ncause = "Fenced"\n')
    (known,) = of_findings(tmp_path / "found")
    assert known.told == "a-defect"
    assert covering([known], "c", "unusable", "producer", "Fenced") is known
    assert covering([known], "c", "unusable", "producer", "") is None
    assert covering([known], "d", "unusable", "producer", "Fenced") is None
    new = KnownViolation("c", "stuck", "member", "", ruling='by "design"')
    path = tmp_path / "known.toml"
    write_known(path, [known, new])
    assert read_known(path) == [known, new]
    path.write_text('[[known]]\nclient = "c"\ninvariant = "stuck"\nkind = "member"\n')
    with pytest.raises(KnownError, match="a known violation has no kind: application, cause"):
        read_known(path)


def test_a_record_is_read_as_it_was_written() -> None:
    record = Record("c", "1", "4.4", "stuck", "member", "a b/c", (1, 2), (1,), (), 2)
    assert Record.from_json(record.to_json()) == record
    assert record.name == "stuck-member-a_b_c"
    assert replace(record, cause="").name == "stuck-member"
