"""The users of the cluster, who log in with passwords."""

from typing import TypedDict

from ..sasl import passwords
from ..verbs.subjects import User
from .registry import operation
from .target import Target


class UserState(TypedDict):
    """`mechanisms` are those by which the user can log in; none if there is no such user any more."""

    user: str
    mechanisms: list[str]


def state(user: User) -> UserState:
    return {"user": user.name, "mechanisms": passwords.users(user.cluster).get(user.name, [])}


@operation("users list", "GET", "/users")
def users(target: Target) -> list[UserState]:
    """Lists the users, and by which mechanisms each can log in. Passwords are not told."""
    found = passwords.users(target.cluster)
    return [{"user": name, "mechanisms": each} for name, each in found.items()]
