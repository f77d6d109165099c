"""Which answers are in force where: those of a release, and those that replace them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..protocol.releases import Release
from . import scope
from .behaviour import A, Behaviour
from .catalogue import fixes, known
from .scope import EVERYWHERE, Scope, Source

NARROWER_KEPT: Final = 1_000
"""For how many topics and brokers the answers in force are cached; topics come and go."""


class Policies(dict[Behaviour[Any], Any]):
    """The answers in force, by behaviour: `policies[undefined_epoch]`. They are those of `release`, except
    for `overrides`, whose keys are the name of a behaviour and optionally a scope
    (`undefined-epoch@topic:orders@broker:1`). With `fixed`, the answers of all fixes that were made or
    proposed replace those of the release.

    These are the answers for the whole cluster; `at` returns those for a topic or a broker. The narrowest
    scope takes precedence, and a topic over a broker. `set` changes answers while the cluster runs.
    UnknownPolicyError for names that do not exist.
    """

    # A dict, so that asking costs only a look-up; it holds what was asked before.

    changes = 0
    """How often answers were changed."""

    def __init__(
        self, release: Release, overrides: Mapping[str, Any] | None = None, *, fixed: bool = False
    ) -> None:
        self.release = release
        self._fixes = fixes() if fixed else {}
        self._overrides: dict[Scope, dict[str, Any]] = {}
        self._narrower: dict[Scope, Policies] = {}
        self._alike: dict[tuple[Scope, ...], Policies] = {}
        self.scoped = False
        """Whether `at` may return other answers than these."""
        for text, answer in (overrides or {}).items():
            name, where = scope.parse(text)
            self._override(name, answer, where)
        self._choose(self._in_force(EVERYWHERE))

    def at(self, topic: str | None = None, broker: int | None = None) -> "Policies":
        """The answers for `topic` on `broker`. Ask again each time, because they may change."""
        if not self.scoped:
            return self
        where = Scope(topic, broker)
        found = self._narrower.get(where)
        return self._narrow(where) if found is None else found

    def _narrow(self, where: Scope) -> "Policies":
        """Most topics and brokers have no answers of their own: they share the answers of a wider scope."""
        if len(self._narrower) >= NARROWER_KEPT:
            self._narrower.clear()
        covering = tuple(self._covering(where))
        found = self._alike.get(covering)
        if found is None:
            found = self._alike[covering] = Policies(self.release)
            found._choose(self._in_force(where))
        self._narrower[where] = found
        return found

    def set(self, name: str, answer: Any, *, topic: str | None = None, broker: int | None = None) -> None:
        """Changes the answer of behaviour `name`. UnknownPolicyError; then nothing is changed."""
        self._override(name, answer, Scope(topic, broker))
        self._changed()

    def reset(self, name: str, *, topic: str | None = None, broker: int | None = None) -> None:
        """Removes the answer that was `set` for exactly this scope. UnknownPolicyError."""
        known(name)
        where = Scope(topic, broker)
        chosen = self._overrides.get(where, {})
        chosen.pop(name, None)
        if not chosen:
            self._overrides.pop(where, None)
        self._changed()

    def answer(self, name: str, *, topic: str | None = None, broker: int | None = None) -> str:
        """The name of the answer in force, or of a user's own function or class. UnknownPolicyError."""
        behaviour = known(name)
        return _name(self._in_force(Scope(topic, broker)).get(name, behaviour.default(self.release)))

    def source(self, name: str, *, topic: str | None = None, broker: int | None = None) -> Source:
        """Where the answer in force comes from. UnknownPolicyError."""
        behaviour, where = known(name), Scope(topic, broker)
        for each in reversed(self._covering(where)):
            if name in self._overrides[each]:
                given = self._overrides[each][name]
                named = isinstance(given, str) and given in behaviour.answers
                return Source("chosen" if named else "own", each)
        return Source("fixed" if name in self._fixes else "release", EVERYWHERE)

    def overrides(self, name: str) -> dict[Scope, str]:
        """The answers that were chosen for a behaviour, by scope. UnknownPolicyError."""
        known(name)
        return {
            where: self.answer(name, topic=where.topic, broker=where.broker)
            for where, chosen in self._overrides.items()
            if name in chosen
        }

    @property
    def scopes(self) -> "list[Scope]":
        """Every scope that has its own answers."""
        return [where for where, chosen in self._overrides.items() if chosen]

    def _override(self, name: str, answer: Any, where: Scope) -> None:
        known(name).choose(self.release, {name: answer})
        self.scoped = self.scoped or where != EVERYWHERE
        self._overrides.setdefault(where, {})[name] = answer

    def _changed(self) -> None:
        self.changes += 1
        self._narrower.clear()
        self._alike.clear()
        self.scoped = any(where != EVERYWHERE for where in self._overrides)
        self._choose(self._in_force(EVERYWHERE))

    def _in_force(self, where: Scope) -> dict[str, Any]:
        """What replaces the release's answers there, by behaviour."""
        found: dict[str, Any] = dict(self._fixes)
        for each in self._covering(where):
            found.update(self._overrides[each])
        return found

    def _covering(self, where: Scope) -> list[Scope]:
        """The scopes whose answers apply there, the widest first."""
        wide_to_narrow = sorted(self._overrides, key=lambda s: (s.topic is not None, s.broker is not None))
        return [each for each in wide_to_narrow if each.covers(where)]

    def _choose(self, chosen: Mapping[str, Any]) -> None:
        self._chosen = chosen
        self._names: dict[Behaviour[Any], str] = {}
        self.clear()

    def named(self, behaviour: Behaviour[Any]) -> str:
        """The name of the answer in force, if that says more than the answer itself."""
        found = self._names.get(behaviour)
        if found is None:
            chosen = self._chosen.get(behaviour.name, behaviour.default(self.release))
            found = self._names[behaviour] = _name(chosen)
        return found

    def __missing__(self, behaviour: Behaviour[A]) -> A:
        answer = self[behaviour] = behaviour.choose(self.release, self._chosen)
        return answer

    def __bool__(self) -> bool:
        """True even if nothing has been asked yet, and the dict is empty."""
        return True

    if TYPE_CHECKING:

        def __getitem__(self, behaviour: Behaviour[A], /) -> A: ...


def _name(given: Any) -> str:
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
