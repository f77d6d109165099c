"""Every behaviour, by name: the module `<subject>/<name>.py` defines `<name>`, and nothing else is needed."""

import functools
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ..nearest import nearest
from .behaviour import Behaviour, UnknownPolicyError

_HERE: Final = str(Path(__file__).parent)


@functools.cache
def _modules() -> dict[str, str]:
    """The module of each behaviour, not imported: a cluster only imports those that it asks for."""
    subjects = [each.name for each in pkgutil.iter_modules([_HERE]) if each.ispkg]
    found = {
        each.name: f"{__package__}.{subject}.{each.name}"
        for subject in subjects
        for each in pkgutil.iter_modules([f"{_HERE}/{subject}"])
    }
    return {name.replace("_", "-"): module for name, module in sorted(found.items())}


class _Catalogue(Mapping[str, Behaviour[Any]]):
    """Imports a behaviour when it is looked up."""

    def __getitem__(self, name: str) -> Behaviour[Any]:
        found: Behaviour[Any] = getattr(importlib.import_module(_modules()[name]), name.replace("-", "_"))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_modules())

    def __len__(self) -> int:
        return len(_modules())

    def __contains__(self, name: object) -> bool:
        return name in _modules()


CATALOGUE: Final = _Catalogue()
"""Every behaviour, by name."""


def module_of(behaviour: Behaviour[Any]) -> ModuleType:
    """The module that defines a behaviour; its docstring says what a client sees."""
    return importlib.import_module(_modules()[behaviour.name])


def fixes() -> dict[str, str]:
    """The answers of all fixes that were made or proposed, by behaviour."""
    return {name: each.fixed for name, each in CATALOGUE.items() if each.fixed is not None}


def known(name: str) -> Behaviour[Any]:
    """The behaviour of that name. UnknownPolicyError names the nearest, or lists all."""
    if name not in CATALOGUE:
        suggestion = nearest(name, CATALOGUE) or f": choose one of {', '.join(CATALOGUE)}"
        raise UnknownPolicyError(f"no behaviour {name!r}{suggestion}")
    return CATALOGUE[name]
