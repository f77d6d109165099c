"""Every scenario, in the order of the report."""

from typing import Final

from . import followers, ordinary, producers, resets, rewinds

SCENARIOS: Final = {
    each.name: each
    for each in (
        *resets.SCENARIOS,
        *followers.SCENARIOS,
        *producers.SCENARIOS,
        *rewinds.SCENARIOS,
        *ordinary.SCENARIOS,
    )
}
"""By name."""
STORIES: Final = tuple(dict.fromkeys(story for each in SCENARIOS.values() for story in each.stories))
"""The stories that they tell, each in several variants."""
