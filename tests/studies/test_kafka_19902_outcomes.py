"""KAFKA-19902's mechanisms, each with both clients: what is recorded, and so on the page, is what happens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mockbroker.clients.drivers.building import BuildError
from studies import clients
from studies.clients import Client, Commit
from studies.kafka_19902.case import Case
from studies.kafka_19902.experiment import run_all
from studies.kafka_19902.mechanisms import MECHANISMS
from studies.kafka_19902.results import Results, told

from .. import needs


@pytest.fixture(params=["java-3.9", "confluent-kafka"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    try:
        made = clients.make(request.param)
    except BuildError as error:
        needs.missing(str(error))
    yield made
    made.stop()


def test_outcomes_are_those_recorded(client: Client) -> None:
    cases = [
        Case(mechanism, commit, reset)
        for mechanism in MECHANISMS
        for commit, reset in ((Commit.POSITION, "earliest"), (Commit.NO_EPOCH, "latest"))
        if commit is Commit.POSITION or MECHANISMS[mechanism].follows_commit
    ]
    cases.append(Case("1a", reset="latest", below_first="undefined"))
    cases.append(Case("3a", undefined_epoch="log-end-offset"))
    recorded = Results().outcomes[client.name]
    expected = {case: recorded[case.mechanism][case.variant][case.reset] for case in cases}
    assert {case: told(outcome) for case, outcome in run_all(client, cases)} == expected
