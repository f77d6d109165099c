"""Delegation tokens (KIP-48), of users that have logged in. The first connections are theirs, by `USERS`."""

from typing import Any, Final

from ..steps import USERS
from .world import World

_LONG_MS: Final = 10**13
_HOUR_MS: Final = 3_600_000
_PERIODS_MS: Final = (-1, _HOUR_MS, 2 * _HOUR_MS, _LONG_MS, 0, -2)
"""Hours, so that some seconds more don't count."""


def _principal(world: World, kind: str = "principal_type", name: str = "principal_name") -> dict[str, Any]:
    rng = world.rng
    odd = (("User", ""), ("Group", USERS[0]), ("", USERS[0]))
    chosen = rng.choice(odd) if world.chance(6) else ("User", rng.choice(USERS))
    return {kind: chosen[0], name: chosen[1]}


def _client(world: World) -> int:
    """The connection of a user, seldom that of nobody."""
    return world.rng.choices(range(len(USERS) + 1), (50, 25, 19, 6))[0]


def create_delegation_token(world: World) -> None:
    version = world.version("create_delegation_token")
    owner: dict[str, Any] = {"owner_principal_type": None, "owner_principal_name": None}
    if world.chance(25):
        owner = _principal(world, "owner_principal_type", "owner_principal_name")
    fields = {
        **owner,
        "renewers": [_principal(world) for _ in world.some((0, 1, 2), (45, 40, 15))],
        "max_lifetime": world.rng.choices((-1, *_PERIODS_MS), (40, 10, 15, 10, 10, 5, 5))[0],
    }
    slot = world.slot()
    world.tokens.append(slot)
    world.add("create_delegation_token", version, fields, client=_client(world), binds=slot)


def _hmac(world: World) -> dict[str, Any]:
    rng = world.rng
    if world.tokens and world.chance(93):
        return {"$hmac": rng.choice(world.tokens)}
    return {"$hex": rng.choice(("", "68" * 64))}


def renew_delegation_token(world: World) -> None:
    period_ms = world.rng.choices(_PERIODS_MS, (35, 20, 20, 10, 8, 7))[0]
    fields = {"hmac": _hmac(world), "renew_period": period_ms}
    world.add(
        "renew_delegation_token", world.version("renew_delegation_token"), fields, client=_client(world)
    )


def expire_delegation_token(world: World) -> None:
    period_ms = world.rng.choices(_PERIODS_MS, (25, 25, 20, 12, 10, 8))[0]
    fields = {"hmac": _hmac(world), "expiry_time_period": period_ms}
    version = world.version("expire_delegation_token")
    world.add("expire_delegation_token", version, fields, client=_client(world))


def describe_delegation_token(world: World) -> None:
    """Of all owners only the tokens of this sequence are looked at."""
    owners = None if world.chance(40) else [_principal(world) for _ in world.some((1, 2, 0), (66, 28, 6))]
    version = world.version("describe_delegation_token")
    world.add("describe_delegation_token", version, {"owners": owners}, client=_client(world))
