"""What a fault does to a request: each action is a class that a user names, as in `do="disconnect"`.

The modules of this folder are found by themselves, once somebody asks for `ACTIONS`: most clusters have no
faults.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from .action import Action, When

if TYPE_CHECKING:
    from .action import ACTIONS

__all__ = ["ACTIONS", "Action", "When"]


def __getattr__(name: str) -> Any:
    if name != "ACTIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    from .action import ACTIONS

    globals()[name] = ACTIONS
    return ACTIONS
