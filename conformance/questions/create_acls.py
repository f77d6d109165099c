"""CreateAcls of brokers without an authorizer."""

from typing import Any

from ..registry import Scene, Steps

READ = 3


def binding(**more: Any) -> dict[str, Any]:
    return {
        "resource_type": 2,
        "resource_name": "orders",
        "resource_pattern_type": 3,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permission_type": 3,
        **more,
    }


def without_an_authorizer(s: Scene) -> Steps:
    yield "one", s.ask(creations=[binding()])
    yield "two", s.ask(creations=[binding(), binding(resource_name="payments")])
    yield "none", s.ask(creations=[])


def odd_bindings(s: Scene) -> Steps:
    yield "no resource name", s.ask(creations=[binding(resource_name="")])
    yield "no principal", s.ask(creations=[binding(principal="")])
    for field in ("resource_type", "resource_pattern_type", "operation", "permission_type"):
        for value in (0, 1, 99):
            yield f"{field} {value}", s.ask(creations=[binding(**{field: value})])


def binding_named_twice(s: Scene) -> Steps:
    yield "twice", s.ask(creations=[binding(), binding()])
