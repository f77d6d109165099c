"""DescribeClientQuotas: which quotas are set for whom (KIP-546)."""

from typing import Any, Final

from ..registry import Scene, Steps
from .alter_client_quotas import CONNECTION, CONSUMER, IP, PRODUCER, REQUEST, Entity, in_order, quotas

EXACT: Final = 0
DEFAULT: Final = 1
SPECIFIED: Final = 2


def _describe(s: Scene, *components: tuple[str, int, str | None], strict: bool = False) -> Any:
    asked = [{"entity_type": kind, "match_type": how, "match": match} for kind, how, match in components]
    answer = s.ask(components=asked, strict=strict)
    return {**answer, "entries": in_order(answer["entries"])}


def _given(s: Scene) -> list[tuple[Entity, dict[str, float]]]:
    user, client = s.name("u"), s.name("c")
    return [
        ({"user": user}, {PRODUCER: 1e12, CONSUMER: 1e12, REQUEST: 1e6}),
        ({"user": s.name("v")}, {PRODUCER: 2e12}),
        ({"user": None}, {REQUEST: 123456.5}),
        ({"client-id": client}, {CONSUMER: 3e12}),
        ({"client-id": None}, {CONSUMER: 4e12}),
        ({"user": user, "client-id": client}, {CONSUMER: 5e12}),
        ({"user": user, "client-id": None}, {CONSUMER: 6e12}),
        ({"user": None, "client-id": None}, {CONSUMER: 7e12}),
        ({"ip": IP}, {CONNECTION: 1000.0}),
        ({"ip": None}, {CONNECTION: 10000.0}),
    ]


def matches(s: Scene) -> Steps:
    user, client = s.name("u"), s.name("c")
    filters: dict[str, list[tuple[str, int, str | None]]] = {
        "a user": [("user", EXACT, user)],
        "an unknown user": [("user", EXACT, "nobody")],
        "an empty user": [("user", EXACT, "")],
        "the default user": [("user", DEFAULT, None)],
        "any user": [("user", SPECIFIED, None)],
        "a client id": [("client-id", EXACT, client)],
        "the default client id": [("client-id", DEFAULT, None)],
        "any client id": [("client-id", SPECIFIED, None)],
        "a user and a client id": [("user", EXACT, user), ("client-id", EXACT, client)],
        "any client id of a user": [("user", EXACT, user), ("client-id", SPECIFIED, None)],
        "both defaults": [("client-id", DEFAULT, None), ("user", DEFAULT, None)],
        "any of both": [("client-id", SPECIFIED, None), ("user", SPECIFIED, None)],
        "an address": [("ip", EXACT, IP)],
        "the default address": [("ip", DEFAULT, None)],
        "any address": [("ip", SPECIFIED, None)],
        "all": [],
    }
    with quotas(s, _given(s)):
        for what, components in filters.items():
            yield what, _describe(s, *components)
            yield f"{what}, strictly", _describe(s, *components, strict=True)


def nothing_set(s: Scene) -> Steps:
    yield "all", _describe(s)
    yield "all, strictly", _describe(s, strict=True)
    yield "a user", _describe(s, ("user", EXACT, s.name("u")))


def odd_filters(s: Scene) -> Steps:
    yield "empty type", _describe(s, ("", EXACT, "a"))
    yield "unknown type", _describe(s, ("group", EXACT, "a"))
    yield "type in capitals", _describe(s, ("User", EXACT, "a"))
    yield "a type twice", _describe(s, ("user", EXACT, "a"), ("user", SPECIFIED, None))
    yield "a type twice, exactly", _describe(s, ("user", EXACT, "a"), ("user", EXACT, "b"))
    yield "an unknown type twice", _describe(s, ("group", EXACT, "a"), ("group", EXACT, "b"))
    yield "exact without a name", _describe(s, ("user", EXACT, None))
    yield "default with a name", _describe(s, ("user", DEFAULT, "a"))
    yield "any with a name", _describe(s, ("user", SPECIFIED, "a"))
    yield "match type 3", _describe(s, ("user", 3, None))
    yield "match type -1", _describe(s, ("user", -1, "a"))
    yield "address and user", _describe(s, ("ip", EXACT, IP), ("user", SPECIFIED, None))
    yield "address and client id", _describe(s, ("client-id", DEFAULT, None), ("ip", SPECIFIED, None))
    yield "the second is odd", _describe(s, ("user", EXACT, "a"), ("group", EXACT, "a"))
