"""The table of verbs."""

from collections.abc import Mapping
from typing import Any, Final

from . import access, brokers, followers, forgetting, leaders, listeners, sharing, users
from .verb import Verb

__all__ = [
    "VERBS",
    "access",
    "brokers",
    "followers",
    "forgetting",
    "leaders",
    "listeners",
    "sharing",
    "users",
]

VERBS: Final[Mapping[str, Verb[Any, ...]]] = {
    found.name: found
    for module in (brokers, listeners, followers, forgetting, sharing, leaders, access, users)
    for found in vars(module).values()
    if isinstance(found, Verb)
}
"""By name, in the order of the modules, whichever was imported first."""
