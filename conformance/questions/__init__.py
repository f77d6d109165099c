"""What is asked, one module per API."""

import importlib
import pkgutil
from fnmatch import fnmatch
from functools import cache

from ..registry import Question, registered


def all_questions(only: str | None = None) -> list[Question]:
    """Every question, by API key order of import; `only` is a part of the id or a glob."""
    _load()
    found = registered()
    if only is None:
        return found
    return [each for each in found if only in each.id or fnmatch(each.id, only)]


@cache
def _load() -> None:
    """Imports every module here, which registers its questions."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
