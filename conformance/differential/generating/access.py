"""Who may do what, how much, and with which password: ACLs, quotas and SCRAM users."""

from typing import Any, Final

from .world import World

_PRINCIPALS: Final = ("User:a~", "User:b~", "User:a~", "User:CN=a~,OU=x", "Group:a~")
_WRONG_PRINCIPALS: Final = ("", "a~", "User:", ":a~", "User:a~:b")
_TYPES, _WRONG_TYPES = (2, 3, 5, 7), (0, 1, 4, 6, 99)
"""Of resources: topics, groups, transactional ids and users; and others."""
_PATTERNS, _WRONG_PATTERNS = (3, 3, 4), (0, 1, 2, 99)
_PERMISSIONS: Final = (3, 3, 2)
_OPERATIONS: Final = range(2, 13)


def _odd(world: World, usual: Any, odd: Any, percent: float = 4) -> Any:
    return world.rng.choice(odd if world.chance(percent) else usual)


def _name(world: World) -> str:
    return str(_odd(world, ("t0~", "t0~", "t1~", "g0~", "t~"), ("", "*~", "a b~")))


def _principal(world: World) -> str:
    return str(_odd(world, _PRINCIPALS, _WRONG_PRINCIPALS))


def _binding(world: World) -> dict[str, Any]:
    return {
        "resource_type": _odd(world, _TYPES, _WRONG_TYPES),
        "resource_name": _name(world),
        "resource_pattern_type": _odd(world, _PATTERNS, _WRONG_PATTERNS),
        "principal": _principal(world),
        "host": _odd(world, ("*", "*", "127.0.0.1"), ("", "nowhere", "10.0.0.0/8")),
        "operation": _odd(world, _OPERATIONS, (0, 1, 13, 14, 15, 99)),
        "permission_type": _odd(world, _PERMISSIONS, (0, 1, 99)),
    }


def _filter(world: World) -> dict[str, Any]:
    """One that no binding of another sequence matches."""
    rng = world.rng
    found = {
        "resource_type_filter": _odd(world, (1, 1, *_TYPES), _WRONG_TYPES),
        "resource_name_filter": rng.choice((None, _name(world), _name(world))),
        "pattern_type_filter": _odd(world, (1, 1, 2, 3, 4), (0, 99)),
        "principal_filter": rng.choice((None, _principal(world))),
        "host_filter": rng.choices((None, "*", "127.0.0.1", ""), (76, 12, 8, 4))[0],
        "operation": _odd(world, (1, 1, 1, *_OPERATIONS), (0, 99)),
        "permission_type": _odd(world, (1, 1, 2, 3), (0, 99)),
    }
    own = any("~" in (found[name] or "") for name in ("resource_name_filter", "principal_filter"))
    return found if own else {**found, "principal_filter": "User:a~"}


def create_acls(world: World) -> None:
    made = [_binding(world) for _ in world.some((1, 2, 3, 0), (60, 25, 13, 2))]
    if made and world.chance(5):
        made.append(made[0])
    world.add("create_acls", world.version("create_acls"), {"creations": made})


def describe_acls(world: World) -> None:
    fields = _filter(world)
    world.add("describe_acls", world.version("describe_acls"), fields)


def delete_acls(world: World) -> None:
    filters = [_filter(world) for _ in world.some((1, 2, 0), (75, 22, 3))]
    world.add("delete_acls", world.version("delete_acls"), {"filters": filters})


_ENTITIES: Final[tuple[dict[str, str | None], ...]] = (
    {"user": "a~"},
    {"user": "b~"},
    {"client-id": "c~"},
    {"user": "a~", "client-id": "c~"},
    {"user": "a~", "client-id": None},
)
_WRONG_ENTITIES: Final[tuple[dict[str, str | None], ...]] = (
    {},
    {"user": ""},
    {"nonsense": "a~"},
    {"ip": "no address"},
    {"user": "a~", "ip": "10.0.0.1"},
)
_RATES: Final = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
_WRONG_RATES: Final = ("connection_creation_rate", "nonsense", "")


def _entity(world: World) -> list[dict[str, Any]]:
    chosen: dict[str, str | None] = _odd(world, _ENTITIES, _WRONG_ENTITIES, 8)
    return [{"entity_type": kind, "entity_name": name} for kind, name in chosen.items()]


def _rate(world: World) -> dict[str, Any]:
    value = _odd(world, (1e6, 2e9, 12.5, 100.0), (0.0, -1.0, 1e300), 10)
    return {"key": _odd(world, _RATES, _WRONG_RATES, 6), "value": value, "remove": world.chance(25)}


def alter_client_quotas(world: World) -> None:
    entries = [
        {"entity": _entity(world), "ops": [_rate(world) for _ in world.some((1, 2, 0), (70, 25, 5))]}
        for _ in world.some((1, 2, 0), (75, 22, 3))
    ]
    fields = {"entries": entries, "validate_only": world.chance(15)}
    world.add("alter_client_quotas", world.version("alter_client_quotas"), fields)


def _component(entity_type: str, match_type: int, match: str | None) -> dict[str, Any]:
    return {"entity_type": entity_type, "match_type": match_type, "match": match}


def describe_client_quotas(world: World) -> None:
    """Of names that only this sequence has."""
    rng = world.rng
    user = _component("user", 0, rng.choice(("a~", "a~", "b~")))
    match_type = rng.choice((0, 1, 2))
    client = _component("client-id", match_type, None if match_type and world.chance(90) else "c~")
    components = rng.choice(([user], [user, client], [_component("client-id", 0, "c~")], [user, client]))
    if world.chance(8):
        odd = (
            _component("user", 0, "a~"),
            _component("nonsense", 2, None),
            _component("", 2, None),
            _component("ip", 3, None),
        )
        components.append(rng.choice(odd))
    fields = {"components": components, "strict": world.chance(40)}
    world.add("describe_client_quotas", world.version("describe_client_quotas"), fields)


def _user(world: World) -> str:
    return str(_odd(world, ("a~", "a~", "b~"), ("",)))


def _mechanism(world: World) -> int:
    return int(_odd(world, (1, 1, 2), (0, 3, -1)))


def alter_user_scram_credentials(world: World) -> None:
    rng = world.rng
    upsertions = [
        {
            "name": _user(world),
            "mechanism": _mechanism(world),
            "iterations": _odd(world, (4096, 8192, 16384), (4095, 0, -1, 16385, 2**31 - 1), 8),
            "salt": {"$hex": rng.choice(("73616c74", "00", ""))},
            "salted_password": {"$hex": rng.choice(("70617373", "00", ""))},
        }
        for _ in world.some((1, 2, 0), (60, 15, 25))
    ]
    deletions = [
        {"name": _user(world), "mechanism": _mechanism(world)} for _ in world.some((0, 1, 2), (60, 32, 8))
    ]
    fields = {"deletions": deletions, "upsertions": upsertions}
    world.add("alter_user_scram_credentials", world.version("alter_user_scram_credentials"), fields)


def describe_user_scram_credentials(world: World) -> None:
    """Not of all users: other sequences left some."""
    users = [{"name": _user(world)} for _ in world.some((1, 2, 3))]
    fields = {"users": users}
    world.add("describe_user_scram_credentials", world.version("describe_user_scram_credentials"), fields)
