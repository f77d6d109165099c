"""What a kind of step is, and how one is registered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..errors import NotThereError
from ..verbs.signatures import Parameter
from ..verbs.verb import Verb
from .network import Random

if TYPE_CHECKING:
    from .world import World

Args = dict[str, Any]
Do = Callable[["World", Args], None]
BROKERS: Final = 3
UNDOES: Final = frozenset({"client", "broker", "member"})
"""The arguments that a step shares with the one that undoes it."""


def _nothing(random: Random) -> Args:
    return {}


@dataclass(frozen=True)
class Kind:
    """A kind of step. `weight` is how often it is drawn, `producer_weight` how often as trouble for
    producers, `member_weight` as trouble for members of a consumer group; the step `then` undoes it after
    `follow_ms` (from, to). `told` is its description. `parameters` are those of a verb that is played as it
    is."""

    do: Do
    told: str
    draw: Callable[[Random], Args] = _nothing
    weight: int = 0
    producer_weight: int = 0
    member_weight: int = 0
    then: str = ""
    follow_ms: tuple[int, int] = (0, 0)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


class Steps(dict[str, Kind]):
    """Kinds of steps by name."""

    def step(
        self,
        what: str | Verb[Any, ...],
        weight: int = 0,
        draw: Callable[[Random], Args] = _nothing,
        **given: Any,
    ) -> Callable[[Do], Do]:
        """Registers a step: by name, described by the function's docstring, or for a verb, with the verb's
        name and help. `given` are further fields of its `Kind`."""

        def register(do: Do) -> Do:
            name, told = (what, do.__doc__ or "") if isinstance(what, str) else (what.name, what.help)
            self[name] = Kind(do, " ".join(told.split()), draw, weight, **given)
            return do

        return register


def of_verb(verb: Verb[Any, ...]) -> Kind:
    """Plays a verb on the first of its subjects that a history names, by the names that users write. It is
    never drawn."""
    [subject, *_] = verb.subjects

    def do(world: "World", args: Args) -> None:
        keys, given = {}, {}
        for name, value in args.items():
            if name in subject.keys:
                keys[name] = value
            else:
                given[verb.parameters[name].keyword] = value
        try:
            found = subject.named(world.cluster, keys)
        except NotThereError:
            return
        verb.attempt(world.cluster, found, **given)

    return Kind(do, verb.help, parameters={**subject.keys, **verb.parameters})


def a_broker(random: Random) -> Args:
    """Draws a broker."""
    return {"broker": random.randrange(1, BROKERS + 1)}
