"""Imports kio's modules without Hypothesis.

Where Hypothesis is installed, kio imports it, and with it pytest, to register strategies for its types: the
first request would wait a quarter of a second for that. Programs that have imported Hypothesis before get
the strategies.
"""

import functools
import importlib
import sys
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Final

HIDDEN: Final = "hypothesis"
_LOOKING: Final = "kio.static._phantom"


class _Hiding:
    """Finds no Hypothesis for the module of kio that looks for it. Others, in other threads, do find it."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name != HIDDEN:
            return
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_globals.get("__name__") == _LOOKING:
                raise ModuleNotFoundError(f"{name} is hidden from kio", name=name)
            frame = frame.f_back


def kio_module(name: str) -> ModuleType:
    """`kio.NAME`. ImportError if there is none."""
    _without_hypothesis()
    return importlib.import_module(f"kio.{name}")


def kio_class(api: str, version: int, kind: str) -> type:
    """kio's class for `api` (such as `list_offsets`); `kind` is Request or Response. ImportError if there is
    none."""
    name = "".join(part.capitalize() for part in api.split("_")) + kind
    return getattr(kio_module(f"schema.{api}.v{version}.{kind.lower()}"), name)  # type: ignore[no-any-return]


@functools.cache
def _without_hypothesis() -> None:
    if HIDDEN in sys.modules:
        return
    hiding = _Hiding()
    sys.meta_path.insert(0, hiding)
    try:
        importlib.import_module("kio.static.primitive")
    finally:
        sys.meta_path.remove(hiding)
