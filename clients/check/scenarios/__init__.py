"""Every scenario, in the order of the report."""

from typing import Final

from ..scenario import Scenario
from . import followers, ordinary, producers, resets, rewinds, security, sharing

SCENARIOS: Final = {
    each.name: each
    for module in (resets, followers, producers, rewinds, ordinary, sharing, security)
    for each in vars(module).values()
    if isinstance(each, Scenario)
}
"""By name."""
STORIES: Final = tuple(dict.fromkeys(story for each in SCENARIOS.values() for story in each.stories))
"""The stories that they tell, each in several variants."""
