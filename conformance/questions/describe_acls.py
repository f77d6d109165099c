"""DescribeAcls, CreateAcls and DeleteAcls of brokers without an authorizer."""

from typing import Any

from ..registry import Scene, Steps

ANY = 1
MATCH = 2


def asked(**more: Any) -> dict[str, Any]:
    """A filter."""
    return {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
        **more,
    }


def without_an_authorizer(s: Scene) -> Steps:
    yield "all", s.ask(asked())
    yield "a topic", s.ask(asked(resource_type_filter=MATCH, resource_name_filter=s.name("t")))
    yield "a user", s.ask(asked(principal_filter="User:alice"))


def odd_filters(s: Scene) -> Steps:
    for field in ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"):
        for value in (-1, 0, 99):
            yield f"{field} {value}", s.ask(asked(**{field: value}))
