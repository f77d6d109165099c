"""AlterClientQuotas: rates for users, client ids and addresses (KIP-546, KIP-612)."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..registry import Scene, Steps

PRODUCER: Final = "producer_byte_rate"
CONSUMER: Final = "consumer_byte_rate"
REQUEST: Final = "request_percentage"
MUTATION: Final = "controller_mutation_rate"
CONNECTION: Final = "connection_creation_rate"
IP: Final = "10.11.12.13"
Entity = dict[str, str | None]
Values = dict[str, float | None]


def entry(entity: Entity, values: Values) -> dict[str, Any]:
    """What to set for an entity; a value of None is removed."""
    named = [{"entity_type": kind, "entity_name": name} for kind, name in entity.items()]
    ops = [
        {"key": key, "value": 0.0 if value is None else value, "remove": value is None}
        for key, value in values.items()
    ]
    return {"entity": named, "ops": ops}


def in_order(entries: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Brokers give entities and values in the order of their hash tables."""
    if entries is None:
        return None
    for each in entries:
        each["entity"].sort(key=lambda named: str(named["entity_type"]))
        each.get("values", []).sort(key=lambda value: str(value["key"]))
    return sorted(entries, key=lambda each: str(each["entity"]))


def described(s: Scene) -> list[dict[str, Any]] | None:
    """All quotas of the cluster, which has those of one question at a time."""
    answer = s.call("describe_client_quotas", {"components": [], "strict": False})
    return in_order(answer["entries"])


def _set(s: Scene, *entries: dict[str, Any], validate_only: bool = False) -> Any:
    answer = s.ask(entries=list(entries), validate_only=validate_only)
    return {**answer, "entries": in_order(answer["entries"])}


@contextmanager
def quotas(s: Scene, given: list[tuple[Entity, dict[str, float]]]) -> Iterator[None]:
    """Sets quotas for a while."""
    add = [entry(entity, dict(values)) for entity, values in given]
    take = [entry(entity, dict.fromkeys(values)) for entity, values in given]
    s.call("alter_client_quotas", {"entries": add, "validate_only": False})
    s.until(lambda: len(described(s) or ()) == len(given), "the quotas")
    try:
        yield
    finally:
        s.call("alter_client_quotas", {"entries": take, "validate_only": False})
        s.until(lambda: not described(s), "no quotas")


def set_and_remove(s: Scene) -> Steps:
    user, client = s.name("u"), s.name("c")
    yield "for a user", _set(s, entry({"user": user}, {PRODUCER: 1e9, REQUEST: 12.5}))
    s.until(lambda: len(described(s) or ()) == 1)
    yield "then", described(s)
    yield "another key", _set(s, entry({"user": user}, {CONSUMER: 2e9}))
    yield "the same again", _set(s, entry({"user": user}, {CONSUMER: 2e9}))
    yield "another value", _set(s, entry({"user": user}, {PRODUCER: 3e9}))
    both: Entity = {"user": user, "client-id": client}
    yield "for a user and a client id", _set(s, entry(both, {MUTATION: 10.5}))
    s.until(lambda: len(described(s) or ()) == 2)
    yield "then", described(s)
    yield "remove and set", _set(s, entry({"user": user}, {PRODUCER: None, CONSUMER: 4e9}))
    yield "remove what is not set", _set(s, entry({"user": user}, {PRODUCER: None, MUTATION: None}))
    yield "remove an unknown key", _set(s, entry({"user": user}, {"rate": None}))
    yield "remove of an unknown user", _set(s, entry({"user": s.name("v")}, {PRODUCER: None}))
    yield "remove the last", _set(s, entry(both, {MUTATION: None}))
    s.until(lambda: len(described(s) or ()) == 1)
    yield "then", described(s)
    yield "remove the rest", _set(s, entry({"user": user}, {CONSUMER: None, REQUEST: None}))
    s.until(lambda: not described(s))


def kinds_of_entities(s: Scene) -> Steps:
    user, client = s.name("u"), s.name("c")
    entities: list[Entity] = [
        {"user": user},
        {"client-id": client},
        {"user": None},
        {"client-id": None},
        {"user": user, "client-id": client},
        {"client-id": None, "user": user},
        {"user": None, "client-id": client},
        {"user": None, "client-id": None},
    ]
    yield "each", _set(s, *(entry(each, {CONSUMER: 1e12}) for each in entities))
    s.until(lambda: len(described(s) or ()) == len(entities))
    yield "then", described(s)
    yield "remove", _set(s, *(entry(each, {CONSUMER: None}) for each in entities))
    s.until(lambda: not described(s))


def addresses(s: Scene) -> Steps:
    def of(name: str | None, **values: float | None) -> Any:
        return _set(s, entry({"ip": name}, values or {CONNECTION: 1000.0}), validate_only=True)

    yield "an address", _set(s, entry({"ip": IP}, {CONNECTION: 1000.0}))
    s.until(lambda: len(described(s) or ()) == 1)
    yield "then", described(s)
    yield "remove", _set(s, entry({"ip": IP}, {CONNECTION: None}))
    s.until(lambda: not described(s))
    yield "the default", of(None)
    yield "IPv6", of("2001:db8::1")
    yield "a name", of("localhost")
    yield "an unknown name", of("no-such-host.invalid")
    yield "no address", of("300.1.2.3")
    yield "a key of users", of(IP, producer_byte_rate=1.0)
    yield "a fraction", of(IP, connection_creation_rate=1.5)
    yield "too large", of(IP, connection_creation_rate=2.0**31)
    yield "the largest", of(IP, connection_creation_rate=2.0**31 - 1)
    yield "zero", of(IP, connection_creation_rate=0.0)
    mixed: Entity = {"ip": IP, "user": "alice"}
    yield "with a user", _set(s, entry(mixed, {CONNECTION: 1.0}), validate_only=True)
    mixed = {"ip": IP, "client-id": "a"}
    yield "with a client id", _set(s, entry(mixed, {CONNECTION: 1.0}), validate_only=True)


def odd_entities(s: Scene) -> Steps:
    values: Values = {PRODUCER: 1e9}

    def of(entity: Entity) -> Any:
        return _set(s, entry(entity, values), validate_only=True)

    yield "none", of({})
    yield "empty user", of({"user": ""})
    yield "empty client id", of({"client-id": ""})
    yield "empty address", of({"ip": ""})
    yield "unknown type", of({"group": "g"})
    yield "empty type", of({"": "g"})
    yield "type in capitals", of({"User": "alice"})
    yield "unknown type besides", of({"user": "alice", "group": "g"})
    yield "odd characters", of({"user": "CN=a, O=b*/<default>\u00e4", "client-id": "<default>"})
    named = [{"entity_type": "user", "entity_name": name} for name in ("alice", "bob")]
    ops = [{"key": PRODUCER, "value": 1e9, "remove": False}]
    yield "a type twice", _set(s, {"entity": named, "ops": ops}, validate_only=True)


def odd_keys_and_values(s: Scene) -> Steps:
    def of(**values: float | None) -> Any:
        (one,) = _set(s, entry({"user": "alice"}, values), validate_only=True)["entries"]
        return one["error_code"], one["error_message"]

    yield "unknown key", of(rate=1.0)
    yield "empty key", of(**{"": 1.0})
    yield "key of addresses", of(connection_creation_rate=1.0)
    yield "no keys", of()
    for key in (PRODUCER, CONSUMER, REQUEST, MUTATION):
        for value in (0.0, -0.0, -1.0, 0.5, 1.5, 1.0000001, 2.0**63, 2.0**64, math.inf, -math.inf, math.nan):
            yield f"{key} {value}", of(**{key: value})
    yield "the first of two errors", of(rate=1.0, producer_byte_rate=-1.0)
    yield "a good one and an error", of(producer_byte_rate=1e9, consumer_byte_rate=-1.0)
    yield "then", described(s)


def duplicates(s: Scene) -> Steps:
    user = s.name("u")
    ops = [{"key": PRODUCER, "value": value, "remove": False} for value in (1e9, 2e9)]
    named = [{"entity_type": "user", "entity_name": user}]
    yield "a key twice", _set(s, {"entity": named, "ops": ops})
    ops = [{"key": PRODUCER, "value": 1e9, "remove": each} for each in (False, True)]
    yield "set and removed", _set(s, {"entity": named, "ops": ops})
    once = entry({"user": user}, {PRODUCER: 1e9})
    yield "an entity twice", _set(s, once, entry({"user": user}, {CONSUMER: 2e9}))
    s.until(lambda: described(s))
    yield "then", described(s)
    yield "an entity three times", _set(s, once, once, once)
    two = entry({"user": s.name("v")}, {PRODUCER: 1e9})
    yield "one of them good", _set(s, two, entry({"user": ""}, {PRODUCER: 1e9}))
    s.until(lambda: len(described(s) or ()) == 2)
    yield "then", described(s)
    yield "none", _set(s)
    yield "remove", _set(s, *(entry({"user": s.name(each)}, {PRODUCER: None}) for each in "uv"))
    s.until(lambda: not described(s))


def validate_only(s: Scene) -> Steps:
    user = s.name("u")
    yield "good", _set(s, entry({"user": user}, {PRODUCER: 1e9}), validate_only=True)
    yield "bad", _set(s, entry({"user": user}, {PRODUCER: -1.0}), validate_only=True)
    yield "then", described(s)
