"""Policies that report when an answer is used, for the trace: they replace a cluster's `Policies`."""

import enum
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from .behaviour import Behaviour
from .in_force import NARROWER_KEPT, Policies
from .own import OwnPolicyError
from .scope import EVERYWHERE, Scope, Source


class Decision(NamedTuple):
    """A behaviour was asked in the scope `where`. `asked` and `answered` are plain values, None if the answer
    in force is not a function."""

    name: str
    answer: str
    source: Source
    where: Scope
    asked: dict[str, Any] | None = None
    answered: Any = None


Tell = Callable[[Decision], None]


class WatchedPolicies(Policies):
    """The answers of `policies`, and those that are `set` here; `tell` is called with each that is used.

    `Policies` knows nothing about this, so that it costs nothing without a trace.
    """

    def __init__(self, policies: Policies, tell: Tell, where: Scope = EVERYWHERE) -> None:
        self.release = policies.release
        self.changes = policies.changes + 1
        self._fixes = policies._fixes
        self._overrides = policies._overrides
        self._narrower = {}
        self._alike = {}
        self._where = where
        self._tell = tell
        self._choose(self._in_force(where))

    def at(self, topic: str | None = None, broker: int | None = None) -> Policies:
        # Callers usually have a Scope, which is equal to the tuple (topic, broker).
        found: Policies | None = self._narrower.get((topic, broker))  # type: ignore[call-overload]
        if found is None:
            where = Scope(topic, broker)
            if len(self._narrower) >= NARROWER_KEPT:
                self._narrower.clear()
            found = self._narrower[where] = WatchedPolicies(self, self._tell, where)
        return found

    def _choose(self, chosen: Mapping[str, Any]) -> None:
        self.scoped = True
        self._answers = Policies(self.release)
        self._answers._choose(chosen)
        self._told: dict[Behaviour[Any], Decision] = {}
        self._values: dict[Behaviour[Any], tuple[Any, Decision]] = {}

    def __missing__(self, behaviour: Behaviour[Any]) -> Any:
        """Nothing is ever stored in the dict itself, so every question comes here."""
        value = self._values.get(behaviour)
        if value is not None:
            self._tell(value[1])
            return value[0]
        answer = self._answers[behaviour]
        if callable(answer):
            return functools.partial(self._ask, behaviour, answer)
        decision = self._decision(behaviour)
        self._values[behaviour] = answer, decision
        self._tell(decision)
        return answer

    def named(self, behaviour: Behaviour[Any]) -> str:
        self._tell(self._decision(behaviour))
        return self._answers.named(behaviour)

    def _ask(self, behaviour: Behaviour[Any], answer: Callable[..., Any], *given: Any) -> Any:
        asked = {
            parameter: plain
            for parameter, value in zip(_questions(behaviour), given, strict=False)
            if (plain := _plain(value)) is not _NOT_PLAIN
        }
        try:
            answered = answer(*given)
        except OwnPolicyError as error:
            decision = self._decision(behaviour)
            self._tell(decision._replace(asked=asked, answered=f"raised {error.__cause__!r}"))
            raise
        self._tell(self._decision(behaviour)._replace(asked=asked, answered=_plain(answered)))
        return answered

    def _decision(self, behaviour: Behaviour[Any]) -> Decision:
        found = self._told.get(behaviour)
        if found is None:
            name, (topic, broker) = behaviour.name, self._where
            answer = self.answer(name, topic=topic, broker=broker)
            source = self.source(name, topic=topic, broker=broker)
            found = self._told[behaviour] = Decision(name, answer, source, self._where)
        return found


@functools.cache
def _questions(behaviour: Behaviour[Any]) -> tuple[str, ...]:
    """The names of what a behaviour's answers are given."""
    answer = next(iter(behaviour.answers.values()))
    return tuple(inspect.signature(answer).parameters)


_NOT_PLAIN: Final = object()
_OF_A_LOG: Final = ("end_offset", "high_watermark", "latest_epoch")


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if all(hasattr(value, each) for each in _OF_A_LOG):
        return {each: getattr(value, each) for each in _OF_A_LOG}
    return _NOT_PLAIN if callable(value) else repr(value)
