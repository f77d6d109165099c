"""What is asked, one module per API."""

import importlib
import pkgutil
from functools import cache


@cache
def load() -> None:
    """Import every module here, which registers its questions."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
