"""Which names a topic may have (`Topic.java`)."""

import re
from typing import Final

_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")
_LONGEST: Final = 249
CLUSTER_METADATA: Final = "__cluster_metadata"


def fault(name: str) -> str | None:
    """Why `name` can't be a topic's name, in Kafka's words; None if it can."""
    if not name:
        why = "the empty string is not allowed"
    elif name in (".", ".."):
        why = f"'{name}' is not allowed"
    elif len(name) > _LONGEST:
        why = f"the length of '{name}' is longer than the max allowed length {_LONGEST}"
    elif not _LEGAL.fullmatch(name):
        why = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return None
    return f"Topic name is invalid: {why}"


class Colliding:
    """Topic names by the names of their metrics, in which `.` and `_` look alike
    (`ReplicationControlManager.topicsWithCollisionChars`)."""

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: dict[str, dict[str, None]] = {}

    def add(self, name: str) -> None:
        if "." in name or "_" in name:
            self._names.setdefault(name.replace(".", "_"), {})[name] = None

    def discard(self, name: str) -> None:
        alike = name.replace(".", "_")
        names = self._names.get(alike)
        if names is not None:
            names.pop(name, None)
            if not names:
                del self._names[alike]

    def with_name_like(self, name: str) -> str | None:
        """The first name that collides with `name`; None if none does."""
        return next(iter(self._names.get(name.replace(".", "_"), ())), None)
