"""The table of verbs."""

from collections.abc import Mapping
from typing import Any, Final

from . import brokers, followers, forgetting, leaders
from .verb import REGISTERED, Verb

__all__ = ["VERBS", "brokers", "followers", "forgetting", "leaders"]

VERBS: Final[Mapping[str, Verb[Any, ...]]] = REGISTERED
"""By name."""
