"""What is asked: each module of this folder has questions, as `..registry` says."""

import importlib
import pkgutil
from fnmatch import fnmatch

from ..registry import Question, questions_of


def all_questions(only: str | None = None) -> list[Question]:
    """Every question in the folder, in the order of modules; `only` is a part of the id or a glob."""
    modules = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    found = [question for each in modules for question in questions_of(each)]
    if only is None:
        return found
    return [each for each in found if only in each.id or fnmatch(each.id, only)]
