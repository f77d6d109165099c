"""The mock answers as real brokers do, save for the table of known differences."""

from typing import Any

import pytest

from mockbroker.conformance import BROKER_CONFIG, RELEASES, ask
from mockbroker.conformance.diff import lines
from mockbroker.conformance.known_differences import KNOWN, reason
from mockbroker.conformance.questions import all_questions
from mockbroker.rig import telemetry_receiver
from mockbroker.rig.setup import CLUSTER_SIZES

from ..driving.cluster import configured
from ..driving.network import InMemoryNetwork

ALL = all_questions()
CASES = [
    (release, api, size)
    for release in RELEASES
    for api in dict.fromkeys(each.api for each in ALL)
    for size in CLUSTER_SIZES
    if any(each.api == api and each.brokers == size for each in ALL)
]


@pytest.mark.parametrize(("release", "api", "brokers"), CASES)
def test_recorded_answers(release: str, api: str, brokers: int) -> None:
    config = dict(BROKER_CONFIG)
    if api in telemetry_receiver.APIS:
        config |= telemetry_receiver.MOCK_CONFIG
    network = InMemoryNetwork(configured(release, brokers, None, config))
    results = ask(network.bootstrap_servers, release, api=api, timeout=5, network=network)
    assert not network.heard.errors
    assert results, f"nothing is recorded of {api} for {brokers} broker(s) of {release}"
    problems, differing = [], set()
    for result in results:
        if result.equal:
            continue
        differing.add(result.question)
        if reason(result.question, release) is None:
            problems.append(f"{result.question} v{result.version}")
            problems += ["    not supported"] if result.got is None else _shown(result.expected, result.got)
    for question in {each.question for each in results} - differing:
        if reason(question, release) is not None:
            problems.append(f"{question} no longer differs: take it out of the known differences")
    assert not problems, "\n".join(problems)


def _shown(expected: list[list[Any]], got: list[list[Any]]) -> list[str]:
    return [f"    {line[:500]}" for line in lines(expected, got)[:10]]


def test_known_differences_name_questions() -> None:
    names = {each.id for each in ALL}
    assert {key.partition("@")[0] for key in KNOWN} <= names
    assert {key.partition("@")[2] for key in KNOWN} <= {"", *RELEASES}
