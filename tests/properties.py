"""How often properties are tried: as often as the profile of the tests says."""

from typing import Final

from hypothesis import settings

_USUAL: Final = 100
"""What Hypothesis has unless it is told otherwise: twice of what is tried in CI."""


def examples(count: int) -> int:
    """Half of `count` in CI, fewer by default, ten times `count` with the profile `thorough`: for
    `max_examples`, and for how many seeds have a property of histories."""
    return max(1, count * settings().max_examples // _USUAL)


def thorough() -> bool:
    """Whether more is tried than in CI: `make acceptance` does."""
    return settings().max_examples > _USUAL
