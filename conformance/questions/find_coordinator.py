"""FindCoordinator: KIP-98 (key types), KIP-699 (several keys), KIP-932 (share groups)."""

from typing import Any

from ..registry import Scene, Steps, question


def _find(s: Scene, *keys: str, key_type: int = 0) -> Any:
    return s.ask(key=keys[0] if keys else "", key_type=key_type, coordinator_keys=list(keys))


def group(s: Scene) -> Steps:
    yield "any group", _find(s, s.name("g"))
    yield "empty id", _find(s, "")


@question(since=1)
def transactional_id(s: Scene) -> Steps:
    s.until(lambda: _ready(s), "__transaction_state")
    yield "any id", _find(s, s.name("tx"), key_type=1)
    yield "empty id", _find(s, "", key_type=1)


def _ready(s: Scene) -> bool:
    fields = {"key_type": 1, "coordinator_keys": [s.name("tx")]}
    return bool(s.call("find_coordinator", fields)["coordinators"][0]["error_code"] == "NONE")


@question(since=1)
def unknown_key_types(s: Scene) -> Steps:
    for key_type in (3, -1, 127):
        yield f"type {key_type}", _find(s, s.name("g"), key_type=key_type)


@question(since=1)
def malformed_share_keys(s: Scene) -> Steps:
    """Type 2 is for brokers, from v6 on; a key is `group:topicId:partition`."""
    yield "no colons", _find(s, s.name("g"), key_type=2)
    yield "no topic id", _find(s, f"{s.name('g')}:topic:0", key_type=2)


@question(since=4)
def several_keys(s: Scene) -> Steps:
    yield "two and an empty one", _find(s, s.name("a"), s.name("b"), "")
    yield "the same twice", _find(s, s.name("a"), s.name("a"))
    yield "none", _find(s)


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    """All brokers name the same coordinator."""
    fields = {"key": s.name("g"), "key_type": 0, "coordinator_keys": [s.name("g")]}
    answers = [s.ask(fields, client=s.new_client(broker=rank)) for rank in range(3)]
    found = [each["coordinators"][0] if s.version >= 4 else each for each in answers]
    nodes = {each["node_id"] for each in found}
    yield "agreed, and a known broker", [len(nodes), nodes <= {s.node(rank) for rank in range(3)}]
    yield "errors", [each["error_code"] for each in found]
