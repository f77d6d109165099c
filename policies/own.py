"""Answers of a user's own: an object in place of an answer's name, or an entry point.

Entry points are in the group `mockbroker.policies`, named `BEHAVIOUR.ANSWER`.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..errors import MockBrokerError

GROUP: Final = "mockbroker.policies"


class OwnPolicyError(MockBrokerError):
    """A user's own policy raised an error, which is its cause."""


def fits(answer: object, answers: Mapping[str, Any]) -> bool:
    """Whether an object is of the same kind as the named answers of a behaviour."""
    sample = next(iter(answers.values()))
    return callable(answer) if callable(sample) else type(answer) is type(sample)


def kind_of(answers: Mapping[str, Any]) -> str:
    """What kind an own answer has to be of, in words."""
    sample = next(iter(answers.values()))
    return "something to call" if callable(sample) else f"a {type(sample).__name__}"


def guarded(name: str, answer: Any) -> Any:
    """The answer; if it raises, that becomes an OwnPolicyError."""
    if not callable(answer):
        return answer
    call: Callable[..., Any] = answer

    def ask(*given: Any) -> Any:
        try:
            return call(*given)
        except Exception as error:
            raise OwnPolicyError(f"the policy given for {name!r} raised {error!r}") from error

    return functools.update_wrapper(ask, answer, ("__doc__",), ())


def installed(name: str) -> dict[str, Any]:
    """The answers for a behaviour that installed packages provide, by name."""
    # Imported where a name is given that no behaviour has: that takes long.
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    return {each.name.removeprefix(f"{name}."): each for each in found if each.name.startswith(f"{name}.")}
