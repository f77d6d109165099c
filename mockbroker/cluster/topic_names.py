"""Which names a topic may have (`Topic.java`)."""

import re
from collections.abc import Iterable
from typing import Final

_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")
_LONGEST: Final = 249
CLUSTER_METADATA: Final = "__cluster_metadata"


def fault(name: str) -> str | None:
    """Why `name` can't be a topic's name, in Kafka's words; None when it can."""
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


def collision(name: str, existing: Iterable[str]) -> str | None:
    """The first of `existing` whose metrics would have the same name: `.` and `_` look alike there."""
    if "." not in name and "_" not in name:
        return None
    alike = name.replace(".", "_")
    return next((other for other in existing if other.replace(".", "_") == alike), None)
