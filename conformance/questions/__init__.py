"""What is asked: each module of this folder has questions."""

import importlib
import pkgutil
from fnmatch import fnmatch

from ..registry import Question, registered


def all_questions(only: str | None = None) -> list[Question]:
    """Every question in the folder, in the order of modules; `only` is a part of the id or a glob."""
    modules = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    for each in modules:
        importlib.import_module(each)
    found = [each for each in registered() if each.scenario.__module__ in modules]
    if only is None:
        return found
    return [each for each in found if only in each.id or fnmatch(each.id, only)]
