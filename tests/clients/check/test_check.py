"""`mockbroker check`: what clients make of known stories."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mockbroker.clients.check.cells import Cell, planned
from mockbroker.clients.check.checking import check
from mockbroker.clients.check.others import others
from mockbroker.clients.check.scenarios import SCENARIOS
from mockbroker.clients.check.verdicts import Judged
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.shipped import PROGRAMS
from mockbroker.clients.hunt.stage import Patience
from mockbroker.policies.catalogue import CATALOGUE, known
from mockbroker.protocol.releases import parse

WRONG = Path(__file__).parents[1] / "hunt" / "wrong.py"
HASTE = Patience(settle_s=5, told_s=5, call_ms=2_000, grace_s=2)


async def played(command: tuple[str, ...], *cells: Cell) -> list[Judged]:
    told: list[Judged] = []
    _, judged = await check(command, cells, told.append, patience=HASTE)
    assert {id(each) for each in told} == {id(each) for each in judged}
    return judged


def wrong(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.setenv("MOCKBROKER_PROGRAMS", str(PROGRAMS / "python"))
    return (sys.executable, str(WRONG), name)


def cell(name: str, policies: Mapping[str, str] | None = None) -> Cell:
    return Cell(SCENARIOS[name], "4.4", not policies, policies or {})


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_names_what_there_is(name: str) -> None:
    scenario = SCENARIOS[name]
    assert scenario.what_happens
    for variant in scenario.variants:
        for behaviour, answer in variant.items():
            known(behaviour).choose(parse("4.4"), {behaviour: answer})


@pytest.mark.trio
async def test_linkedins_first_rewind() -> None:
    judged = await played(
        tuple(command_for("confluent-kafka")),
        cell("load-stops"),
        cell("load-stops", {"offsets-load": "stops"}),
        cell("load-stops", {"offsets-load": "skips"}),
    )
    assert [each.told for each in judged] == ["right", "read-again", "right"]
    assert "begins t-0 at 10, though 20 was committed" in judged[1].verdict.evidence[0]
    assert (judged[1].times, judged[1].runs) == (3, 3)
    assert not any(each.unexpected for each in judged)
    assert "offsets-load" in judged[0].decided


@pytest.mark.trio
async def test_leaders_move_to_other_replicas() -> None:
    cells = cell("cut-off-leader"), cell("epoch-removed"), cell("lost-answers")
    judged = await played(tuple(command_for("confluent-kafka")), *cells)
    assert len(judged) == 3
    assert "not reached" not in {each.verdict.word for each in judged}


@pytest.mark.trio
async def test_what_users_are_told_of_logins_certificates_and_acls() -> None:
    names = ("re-authentication", "password-wrong", "certificate-expired", "acl-withdrawn", "login-plain")
    judged = await played(tuple(command_for("confluent-kafka")), *map(cell, names))
    assert not any(each.unexpected for each in judged)
    told = {each.cell.scenario.name: [e.name for e in each.verdict.heard] for each in judged}
    assert told == {
        "re-authentication": [],
        "password-wrong": ["_AUTHENTICATION"] * 2,
        "certificate-expired": ["_SSL"] * 2,
        "acl-withdrawn": ["TOPIC_AUTHORIZATION_FAILED"] * 2,
        "login-plain": [],
    }
    assert all(each.verdict.word == "right" for each in judged if not told[each.cell.scenario.name])


@pytest.mark.trio
async def test_a_client_that_loses_records_is_told_from_a_broker_that_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (judged,) = await played(wrong("loses", monkeypatch), cell("leaders-move"))
    assert "acknowledged-lost" in judged.verdict.violated
    assert judged.unexpected


@pytest.mark.trio
async def test_a_driver_that_dies_or_hangs_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    (died,) = await played(wrong("dies", monkeypatch), cell("idle-producer"))
    assert died.told.startswith("driver failed: it was ended by SIGABRT; ")
    (hung,) = await played(wrong("hangs", monkeypatch), cell("idle-producer"))
    assert hung.verdict.violated == ("call-overdue",)
    assert "flush has not returned" in hung.verdict.evidence[0]
    rubbish = (sys.executable, "-c", "print('no room'); raise SystemExit(3)")
    judged = await played(rubbish, cell("retention"), cell("rebalance"))
    assert all(each.told.startswith("driver failed: it ended with status 3") for each in judged)
    assert all(each.verdict.evidence == ("no room",) for each in judged)
    assert all(each.unexpected for each in (died, hung, *judged))


@pytest.mark.trio
async def test_a_run_that_does_not_end_is_given_up_and_the_next_one_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patient = Patience(call_ms=600_000, grace_s=600)
    cells = [cell("leaders-move"), cell("rebalance")]
    given = wrong("hangs", monkeypatch)
    _, judged = await check(given, cells, lambda _: None, patience=patient, limit_s=1, lanes=1)
    assert [each.verdict.word for each in judged] == ["not reached"] * 2
    assert judged[0].verdict.evidence == ("waited in vain, for 1 s, until the run ended",)
    assert not any(each.unexpected for each in judged)


@pytest.mark.trio
async def test_what_a_driver_lacks_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    (judged,) = await played(wrong("lacking", monkeypatch), cell("retention"))
    assert judged.told == "right"
    toy = "from lines import Lines; lines = Lines(); lines.hello('toy 1', ['groups']); lines.requests.read()"
    monkeypatch.setenv("PYTHONPATH", str(PROGRAMS / "python"))
    (judged,) = await played((sys.executable, "-c", toy), cell("transactions"))
    assert judged.told == "not supported"
    assert judged.verdict.evidence == ("the driver has no transactions",)
    assert not judged.unexpected


def test_every_scenario_is_played_with_every_release_and_its_variants_once() -> None:
    cells = list(planned(SCENARIOS.values(), ["2.3", "4.4"], [False, True], {}))
    variants = sum(len(each.variants) for each in SCENARIOS.values())
    once = sum(each.is_about_access for each in SCENARIOS.values())
    late = sum(bool(each.since) for each in SCENARIOS.values())
    assert late > 0
    assert len(cells) == (len(SCENARIOS) - once - late) * 4 + late * 2 + once + variants
    assert {(each.kafka, each.fixed) for each in cells if each.policies} == {("4.4", False)}
    chosen = list(planned(SCENARIOS.values(), ["4.4"], [True], {"compaction": "dead"}))
    assert len(chosen) == len(SCENARIOS)


@pytest.mark.trio
async def test_other_answers_are_those_of_what_was_met() -> None:
    judged = await played(tuple(command_for("confluent-kafka")), cell("retention"))
    found = list(others(judged, "4.4"))
    assert {name for each in found for name in each.policies} <= judged[0].decided
    assert len({each.answers for each in found}) == len(found)
    for each in found:
        ((name, answer),) = each.policies.items()
        assert answer in CATALOGUE[name].answers
        assert each.one_of_many


def test_the_command_of_a_cell_plays_it_alone() -> None:
    words = shlex.split(cell("load-stops", {"offsets-load": "stops"}).command(("--client", "java")))
    assert words == shlex.split(
        "mockbroker check --client java --only load-stops --kafka 4.4 --fixed no --policy offsets-load=stops"
    )
