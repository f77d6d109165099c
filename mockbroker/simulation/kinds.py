"""What a kind of step is, and how one is registered."""

from collections.abc import Callable, Mapping
from contextlib import suppress
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
    producers, `member_weight` as trouble for members of a consumer group, `share_weight` for those of a
    share group; the step `then` undoes it after `follow_ms` (from, to). `help` is its description.
    `parameters` are those of a verb that is played as it is."""

    do: Do
    help: str
    draw: Callable[[Random], Args] = _nothing
    weight: int = 0
    producer_weight: int = 0
    member_weight: int = 0
    share_weight: int = 0
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

    def verb(self, verb: Verb[Any, ...], weight: int = 0, **given: Any) -> None:
        """Registers a verb as it is: its step names the first of its subjects, and has its parameters, by the
        names that users write. It does nothing where there is no such subject."""
        [subject, *_] = verb.subjects

        def do(world: "World", args: Args) -> None:
            keys = {name: value for name, value in args.items() if name in subject.keys}
            given = {verb.parameters[name].keyword: args[name] for name in args.keys() - keys.keys()}
            with suppress(NotThereError):
                verb.attempt(world.cluster, subject.named(world.cluster, keys), **given)

        parameters = {**subject.keys, **verb.parameters}
        self[verb.name] = Kind(do, verb.help, weight=weight, parameters=parameters, **given)


def a_broker(random: Random) -> Args:
    """Draws a broker."""
    return {"broker": random.randrange(1, BROKERS + 1)}
