"""The sessions of the members of all groups of a kind."""

from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar

from ..configs import Configs
from ..environment import Environment
from .members import Session


class _Named(Protocol):
    @property
    def id(self) -> str: ...


G = TypeVar("G", bound=_Named)


class Sessions(Generic[G]):
    """`timeout_ms` says how long members of a group may be silent; `ended` is called with a group and a
    member that was silent for longer."""

    def __init__(
        self,
        environment: Environment,
        timeout_ms: Callable[[Configs, str], int],
        ended: Callable[[G, str], None],
    ) -> None:
        self._environment = environment
        self._timeout_ms = timeout_ms
        self._ended = ended
        self._sessions: dict[tuple[str, str], Session] = {}

    def heard(self, group: G, member_id: str) -> None:
        """The member's session begins anew."""
        key = group.id, member_id
        session = self._sessions.get(key)
        if session is None:
            late = partial(self._ended, group, member_id)
            session = self._sessions[key] = Session(self._environment, late)
        session.renew(self._timeout_ms(self._environment.configs, group.id))

    def stop(self, group: G, member_id: str) -> None:
        session = self._sessions.pop((group.id, member_id), None)
        if session is not None:
            session.end()
