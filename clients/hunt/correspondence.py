"""How the input of a whole application and its output correspond, and what a plan says of it."""

import re
from collections.abc import Sequence
from typing import Any, Final

from .plan import Plan, PlannedUser

USER: Final = "application"
"""The name and the kind of its user in plans."""
RECORD: Final = "{record}"
"""Stands for the name of an input record in its value."""
_NAME: Final = re.compile(rb"record\d{6}")


def name_of(number: int) -> bytes:
    """Of an input record: one word."""
    return b"record%06d" % number


def fields(
    inputs: Sequence[str],
    outputs: Sequence[str] = (),
    group: str = "",
    *,
    value: str = RECORD,
    restarts: bool = False,
    at_least_once: bool = False,
) -> dict[str, Any]:
    """Of its user in plans. ValueError if there is nothing to judge it by."""
    if not inputs:
        raise ValueError("which topics does the application read? Give --input TOPIC")
    if not outputs and not group:
        raise ValueError("what is the application judged by? Give --output TOPIC, --group GROUP, or both")
    if RECORD not in value:
        raise ValueError(f"the value of an input record needs {RECORD} in it")
    return {
        "input": list(inputs),
        "output": list(outputs),
        "group": group,
        "value": value,
        "restarts": restarts,
        "at_least_once": at_least_once,
    }


def named_in(content: bytes | None) -> set[bytes]:
    """The input records that a key or a value names."""
    return set(_NAME.findall(content or b""))


def user_of(plan: Plan) -> PlannedUser | None:
    """The application of a plan; None if it is a plan for a client."""
    return next((user for user in plan.users if user.kind == USER), None)


def outputs_of(plan: Plan, topic: str) -> list[str]:
    """The topics to which the application of a plan writes what it reads from a topic."""
    user = user_of(plan)
    return user.fields["output"] if user is not None and topic in user.fields["input"] else []
