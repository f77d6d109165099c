"""What a kind of step is, and how one is registered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..verbs.verb import Verb
from .network import Random

if TYPE_CHECKING:
    from .world import World

Args = dict[str, int]
BROKERS: Final = 3


@dataclass(frozen=True)
class Kind:
    """A kind of step. `weight` is how often it is drawn, `producer_weight` how often as trouble for
    producers, `member_weight` as trouble for members of a consumer group; the step `then` undoes it after
    `follow_ms` (from, to). `told` is its description."""

    do: Callable[["World", Args], None]
    told: str
    draw: Callable[[Random], Args]
    weight: int
    producer_weight: int = 0
    member_weight: int = 0
    then: str = ""
    follow_ms: tuple[int, int] = (0, 0)


class Steps(dict[str, Kind]):
    """Kinds of steps by name."""

    def step(
        self,
        what: str | Verb[Any, ...],
        weight: int = 0,
        draw: Callable[[Random], Args] = lambda random: {},
        producer_weight: int = 0,
        member_weight: int = 0,
        then: str = "",
        follow_ms: tuple[int, int] = (0, 0),
    ) -> Callable[[Callable[["World", Args], None]], Callable[["World", Args], None]]:
        """Registers a step: by name, described by the function's docstring, or for a verb, with the verb's
        name and help."""

        def register(do: Callable[["World", Args], None]) -> Callable[["World", Args], None]:
            name, told = (what, do.__doc__ or "") if isinstance(what, str) else (what.name, what.help)
            self[name] = Kind(
                do, " ".join(told.split()), draw, weight, producer_weight, member_weight, then, follow_ms
            )
            return do

        return register


def a_broker(random: Random) -> Args:
    """Draws a broker."""
    return {"broker": random.randrange(1, BROKERS + 1)}
