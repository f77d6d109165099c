"""The catalogue of behaviours holds together."""

import inspect
import re
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import mockbroker
from mockbroker.policies import CATALOGUE, Behaviour, Policies, Switch, UnknownPolicyError, module_of
from mockbroker.policies.controller.election import election
from mockbroker.protocol.releases import names, parse

PACKAGE = Path(mockbroker.__file__).parent
FOLDER = PACKAGE / "policies"


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
    modules = {path.stem for path in FOLDER.glob("*/*.py")} - {"__init__"}
    assert {name.replace("_", "-") for name in modules} == set(CATALOGUE)
    for name, behaviour in CATALOGUE.items():
        assert behaviour.name == name
        assert f"`{name}`" in (module_of(behaviour).__doc__ or "")


SWITCHES = {name: each for name, each in CATALOGUE.items() if isinstance(each, Switch)}


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
def test_a_switch_has_the_two_answers_that_its_type_names(switch: Switch[Any]) -> None:
    """mypy would let the core compare with a third one, which is never the answer."""
    typed = re.search(r"Switch\[\s*Literal\[(.*?)\]", inspect.getsource(module_of(switch)), re.DOTALL)
    assert typed
    assert re.findall(r'"(.*?)"', typed[1]) == list(switch.answers)
    assert sorted(switch.answers.values()) == [False, True]


@pytest.mark.parametrize("kafka", names())
def test_every_release_has_all_answers(kafka: str) -> None:
    policies = Policies(parse(kafka))
    for behaviour in CATALOGUE.values():
        named = policies.answer(behaviour.name)
        expected = named if isinstance(behaviour, Switch) else behaviour.answers[named]
        assert policies[behaviour] is policies[behaviour]
        assert policies[behaviour] == expected
        assert policies.named(behaviour) == named


@pytest.mark.parametrize(("own", "meant"), [(True, "unclean"), (False, "clean")])
def test_a_bool_of_a_users_own_stands_for_a_name(own: bool, meant: str) -> None:
    policies = Policies(parse("4.4"), {"election": own})
    assert (policies[election], policies.source("election").kind) == (meant, "own")
    with pytest.raises(UnknownPolicyError, match="takes a bool as an answer of your own, not 1"):
        policies.set("election", 1)
    assert policies[election] == meant


def test_policies_that_were_asked_nothing_are_there() -> None:
    assert Policies(parse("4.4"))


def test_the_catalogue_is_found_in_a_zip_too(tmp_path: Path) -> None:
    """And no behaviour is imported before it is asked for."""
    archive = tmp_path / "mockbroker.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for part in ("*.py", "policies/*.py", "policies/*/*.py", "protocol/*.py", "protocol/*.json"):
            for path in PACKAGE.glob(part):
                packed.write(path, path.relative_to(PACKAGE.parent))
    code = (
        "import sys; from mockbroker.policies import CATALOGUE; print(len(CATALOGUE)); "
        "print('mockbroker.policies.controller.election' in sys.modules, CATALOGUE['election'].name)"
    )
    run = partial(subprocess.run, capture_output=True, text=True, env={"PYTHONPATH": str(archive)})
    done = run([sys.executable, "-c", code], cwd=tmp_path)
    assert done.stdout.splitlines() == [str(len(CATALOGUE)), "False election"], done.stderr


def test_names_that_do_not_exist_are_answered_with_those_that_do() -> None:
    with pytest.raises(UnknownPolicyError, match="undefined-epoch"):
        Policies(parse("4.4"), {"undefined-epochs": "undefined"})
    with pytest.raises(UnknownPolicyError, match="log-end-offset"):
        Policies(parse("4.4"), {"undefined-epoch": "leo"})
