"""Subscriptions to metrics of clients, and clients that push them (KIP-714). Only the clients of one sequence
match its subscriptions."""

from typing import Any, Final

from .cluster import CLIENT_METRICS
from .world import World

CLIENT_ID: Final = "pushing~"
_MOST_INSTANCES: Final = 3
_METRICS: Final = ("*", "org.apache.kafka.producer.", "a.,b.", "b.,a.", "a.", "")
_INTERVALS_MS: Final = ("60000", "60000", "300000", "3600000", "99", "3600001", "soon")
"""Long ones, so that a client that is back too soon is so on both sides."""
_MATCHES: Final = (
    "client_id=pushing~",
    "client_id=pushing~",
    "client_id=.*~",
    "client_id=push~",
    "client_id=another~",
    "client_source_address=127.0.0.1,client_id=pushing~",
    "client_source_port=1,client_id=pushing~",
    r"client_source_port=\d+,client_id=pushing~",
    "client_software_name=.*,client_id=pushing~",
    "client_software_name=nothing,client_id=pushing~",
    "client_id=(~",
    "no_such_field=~",
    "~",
)
_PAYLOADS: Final = ("6d6574726963", "", "00")


def subscribe(world: World) -> None:
    """Always with what it matches, so that no other client does."""
    rng = world.rng
    name = rng.choices(("m0~", "m1~", "m2~"), (60, 30, 10))[0]
    given = {"match": rng.choice(_MATCHES)}
    if world.chance(80):
        given["metrics"] = rng.choice(_METRICS)
    if world.chance(60):
        given["interval.ms"] = rng.choice(_INTERVALS_MS)
    changes: list[dict[str, Any]] = [
        {"name": key, "value": value, "config_operation": 0} for key, value in given.items()
    ]
    if world.chance(12):
        changes = [
            {"name": key, "value": None, "config_operation": 1} for key in ("match", "metrics", "interval.ms")
        ]
    resource = {"resource_type": CLIENT_METRICS, "resource_name": name}
    if changes[0]["value"] is not None and world.chance(15):
        values = [{"name": each["name"], "value": each["value"]} for each in changes]
        fields = {"resources": [{**resource, "configs": values}], "validate_only": world.chance(10)}
        world.add("alter_configs", world.version("alter_configs"), fields)
        return
    fields = {"resources": [{**resource, "configs": changes}], "validate_only": world.chance(8)}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)


def get_telemetry_subscriptions(world: World) -> None:
    rng = world.rng
    version = world.version("get_telemetry_subscriptions")
    if len(world.instances) < _MOST_INSTANCES and (not world.instances or world.chance(40)):
        slot = world.slot()
        world.instances.append(slot)
        asked: Any = None if world.chance(75) else {"$instance": slot}
    else:
        slot = rng.choice(world.instances)
        asked = {"$instance": slot}
    fields = {"client_instance_id": asked}
    world.add("get_telemetry_subscriptions", version, fields, client=_client(world, slot), binds=slot)


def push_telemetry(world: World) -> None:
    rng = world.rng
    slot = rng.choice(world.instances) if world.instances else 99
    fields = {
        "client_instance_id": {"$instance": slot if world.chance(95) else 98},
        "subscription_id": {"$subscription_id": [slot, 0 if world.chance(88) else 1]},
        "terminating": world.chance(12),
        "compression_type": rng.choices((0, 1, 2, 3, 4, 5, -1), (82, 3, 3, 3, 3, 3, 3))[0],
        "metrics": {"$hex": rng.choices(_PAYLOADS, (70, 20, 10))[0]},
    }
    world.add("push_telemetry", world.version("push_telemetry"), fields, client=_client(world, slot))


def _client(world: World, slot: int) -> int:
    """Its connection, seldom another one."""
    return slot if world.chance(92) else world.rng.randrange(_MOST_INSTANCES)
