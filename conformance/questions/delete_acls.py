"""DeleteAcls of brokers without an authorizer."""

from ..registry import Scene, Steps
from .describe_acls import asked


def without_an_authorizer(s: Scene) -> Steps:
    yield "all", s.ask(filters=[asked()])
    yield "two filters", s.ask(filters=[asked(), asked(principal_filter="User:alice")])
    yield "none", s.ask(filters=[])


def odd_filters(s: Scene) -> Steps:
    for field in ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"):
        for value in (0, 99):
            yield f"{field} {value}", s.ask(filters=[asked(**{field: value})])


def filter_named_twice(s: Scene) -> Steps:
    yield "twice", s.ask(filters=[asked(), asked()])
