"""Whatever stands in the table of verbs is there in every way to control a cluster."""

import inspect
from dataclasses import fields
from typing import Any

import pytest

from mockbroker import ConflictError, MockCluster, OptionError
from mockbroker.control.table import OPERATIONS
from mockbroker.errors import NotThereError
from mockbroker.faults.actions import ACTIONS
from mockbroker.server.running import RunningCluster
from mockbroker.simulation.steps import STEPS
from mockbroker.verbs.subjects import LISTENER
from mockbroker.verbs.table import VERBS
from mockbroker.verbs.verb import Verb

from ..control.asking import ask
from ..driving.uses import HELD, USED, share

METHODS = {"cut-off-broker": "cut_off", "rejoin-broker": "rejoin"}
"""Those that are not called like their verb."""
PLACES = {
    "topic": "t",
    "partition": 0,
    "broker": 3,
    "listener": "LOGIN",
    "group": "g",
    "member": "mock",
    "transactional_id": "x",
    "delay_ms": 100,
    "password": "secret",
}
UNDONE = {
    "start-broker": "stop-broker",
    "open-listener": "close-listener",
    "rejoin-broker": "cut-off-broker",
    "resume-follower": "pause-follower",
    "remove-acl": "add-acl",
    "remove-user": "set-password",
}
"""What has to have happened before."""
AGAIN = ("move-leader", "move-coordinator")
"""Those that can be done again and again."""
GONE = ("evict-member", "expire-transactional-id")
"""Those after which what they act on is not there any more."""
SECURITY = {
    "super_users": ["ANONYMOUS"],
    "listeners": {"OPEN": "PLAINTEXT", "LOGIN": "SASL_PLAINTEXT"},
    "sasl": ["plain", "scram-sha-256"],
    "users": {"alice": "secret"},
}
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)


@every_verb
def test_it_is_a_method(verb: Verb[Any, ...]) -> None:
    method = getattr(RunningCluster, METHODS.get(verb.name, verb.name.replace("-", "_")))
    taken = {name for each in verb.subjects for name in each.keys}
    taken |= {each.keyword for each in verb.parameters.values()}
    assert set(inspect.signature(method).parameters) - {"self"} == taken
    assert "ConflictError" in method.__doc__


@every_verb
def test_it_is_an_operation_of_each_of_its_subjects(verb: Verb[Any, ...]) -> None:
    found = [each for each in OPERATIONS.values() if each.description == verb.help]
    assert [set(each.parameters) for each in found] == [
        {*each.keys, *verb.parameters} for each in verb.subjects
    ]
    assert all(each.method == "POST" for each in found)


@every_verb
def test_it_is_what_a_fault_does(verb: Verb[Any, ...]) -> None:
    action = ACTIONS[verb.name]
    assert " ".join((action.__doc__ or "").split()).startswith(verb.help)
    own = {each.keyword for each in verb.parameters.values()} - {"to"}
    assert {each.name for each in fields(action)} - {"target"} == own


@every_verb
def test_it_is_a_step_of_histories(verb: Verb[Any, ...]) -> None:
    assert STEPS[verb.name].help == verb.help


@pytest.fixture(scope="module")
def cluster() -> Any:
    with MockCluster(
        control=True,
        clock="manual",
        security=SECURITY,
        config={"group.initial.rebalance.delay.ms": "0"},
    ) as started:
        yield started


@every_verb
def test_it_is_refused_over_http_and_in_python_when_it_would_change_nothing(
    cluster: MockCluster, verb: Verb[Any, ...]
) -> None:
    cluster.create_topic(verb.name, replica_assignment=[[1, 2, 3]])
    group = {"group": verb.name} if USED.get(verb.name) is share else {}
    own = {**group, "topic": verb.name, "user": verb.name, "acl": f"bob allow read on topic:{verb.name}"}
    places = {**PLACES, **own}
    [operation, *_] = [each for each in OPERATIONS.values() if each.description == verb.help]
    url = cluster.control_url + operation.path.format(**places)
    body = {each: places[each] for each in ("delay_ms", "acl", "password") if each in operation.parameters}
    if verb.name in UNDONE:
        do(cluster, UNDONE[verb.name], places)
    if verb.name in USED:
        USED[verb.name](cluster, verb.name)
    status, answer = ask("POST", url, body)
    assert status == 200, answer
    if verb.name not in AGAIN:
        gone = verb.name in GONE
        status, answer = ask("POST", url, body)
        assert status == (404 if gone else 409)
        with pytest.raises(NotThereError if gone else ConflictError) as caught:
            do(cluster, verb.name, places)
        assert str(caught.value) == answer["error"]
    cluster.run(lambda core: VERBS["slow-metadata"].attempt(core, core.brokers[3], delay_ms=0))
    cluster.run(lambda core: VERBS["open-listener"].attempt(core, LISTENER.find(core, 3, "LOGIN")))
    for name in ("start-broker", "rejoin-broker"):
        cluster.run(lambda core, name=name: VERBS[name].attempt(core, core.brokers[3]))  # type: ignore[misc]
    cluster.clock.advance("1m")
    while HELD:
        HELD.pop().close()
    assert not {"offline", "cut off"} & {each.state for each in cluster.replicas(verb.name, 0)}


def do(cluster: MockCluster, name: str, places: dict[str, Any]) -> None:
    method = getattr(cluster, METHODS.get(name, name.replace("-", "_")))
    method(**{each: places[each] for each in inspect.signature(method).parameters if each in places})


def test_whose_coordinator_has_to_be_said_and_once(cluster: MockCluster) -> None:
    twice: dict[str, Any] = {"group": "g", "transactional_id": "x"}
    for given in ({}, twice):
        with pytest.raises(OptionError, match="give group or transactional_id"):
            cluster.move_coordinator(**given)
