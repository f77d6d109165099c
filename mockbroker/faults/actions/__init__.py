"""What a fault does to a request: each action is a class that a user names, as in `do="disconnect"`.

The modules of this folder are found by themselves.
"""

import importlib
import pkgutil

from .action import ACTIONS, Action, When

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["ACTIONS", "Action", "When"]
