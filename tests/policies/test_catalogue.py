"""The catalogue of behaviours holds together."""

import importlib
import pkgutil
from typing import Any

import pytest

from mockbroker import policies
from mockbroker.policies import CATALOGUE, Behaviour, Policies, UnknownPolicyError
from mockbroker.protocol.releases import names, parse


@pytest.mark.parametrize("behaviour", CATALOGUE.values(), ids=CATALOGUE)
def test_a_behaviour_is_complete(behaviour: Behaviour[Any]) -> None:
    assert behaviour.summary
    assert {answer for _, answer in behaviour.history} <= set(behaviour.answers)
    assert behaviour.history[0][0] == names()[0], "the oldest release has an answer"
    since = [parse(release) for release, _ in behaviour.history]
    assert since == sorted(set(since))
    assert behaviour.fixed is None or behaviour.fixed in behaviour.answers
    assert behaviour.name == behaviour.name.lower().replace("_", "-")


def test_every_module_is_in_the_catalogue_under_its_own_name() -> None:
    others = {"behaviour", "own", "scope", "watched"}
    modules = {m.name for m in pkgutil.iter_modules(policies.__path__)} - others
    assert {name.replace("_", "-") for name in modules} == set(CATALOGUE)
    for name in modules:
        module = importlib.import_module(f"mockbroker.policies.{name}")
        assert f"`{module.BEHAVIOUR.name}`" in (module.__doc__ or "")


@pytest.mark.parametrize("kafka", names())
def test_every_release_has_all_answers(kafka: str) -> None:
    Policies(parse(kafka))


def test_names_that_do_not_exist_are_answered_with_those_that_do() -> None:
    with pytest.raises(UnknownPolicyError, match="undefined-epoch"):
        Policies(parse("4.4"), {"undefined-epochs": "undefined"})
    with pytest.raises(UnknownPolicyError, match="log-end-offset"):
        Policies(parse("4.4"), {"undefined-epoch": "leo"})
