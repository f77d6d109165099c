"""Modules that were in this package before they went to `mockbroker.rig` and `mockbroker.clients`.

An import by an old name gives the module, with a DeprecationWarning. The old names work for one release.
"""

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

_PLACES: Final = {
    "rig": (
        "batches client consumer_scene group_scene migration_scene network normalise readiness real_broker "
        "real_tools scene setup telemetry_receiver transaction_scene"
    ),
    "clients": "check drivers hunt replay",
}
_MOVED: Final = {name: place for place, names in _PLACES.items() for name in names.split()}
_OLD: Final = __package__


class _Moved(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if _new_name(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = _new_name(old)
        assert new
        warnings.warn(f"{old} is {new} now", DeprecationWarning, stacklevel=2)
        sys.modules[old] = importlib.import_module(new)


def _new_name(old: str) -> str:
    """ "" if it never was in here."""
    inside = old.removeprefix(f"{_OLD}.")
    place = _MOVED.get(inside.partition(".")[0]) if inside != old else None
    return f"{_OLD.rpartition('.')[0]}.{place}.{inside}" if place else ""


def find_by_old_names() -> None:
    # It comes first: a package that moved has its files in its path, where others would find them anew.
    sys.meta_path.insert(0, _Moved())
