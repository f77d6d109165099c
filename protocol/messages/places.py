"""Where the errors of an answer are."""

from dataclasses import field
from typing import Any


def places(level: str, *of: str, since: int = 0) -> Any:
    """A list in an answer whose entries have, or contain, error codes.

    `level` is what an entry is for. `of` names the list in the request that has an entry for each of them; if
    there are several names, the first that the request has; with dots, it is in each entry of another list.
    Before version `since` the level around it has the errors.
    """
    return field(default_factory=list, metadata={"level": level, "of": of, "since": since})
