"""Configurations that are wrong, and that one may not alter."""

from typing import Any

from mockbroker.rig.stories import Steps

from .stage import AclStage


def altering(s: AclStage) -> Steps:
    """Configurations that are wrong, or that one may not alter: which of the two is told."""
    alice = s.user()
    s.topics("a", "b")
    s.give("alice allow alter_configs on topic:a")

    def resource(kind: int, name: str, *configs: tuple[str, str | None]) -> dict[str, Any]:
        entries = [{"name": each, "config_operation": 0, "value": value} for each, value in configs]
        return {"resource_type": kind, "resource_name": name, "configs": entries}

    def old(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**each, "configs": [{"name": one["name"], "value": one["value"]} for one in each["configs"]]}
            for each in entries
        ]

    node = str(s.brokers.nodes[0])
    wrong = {
        "fine": [
            resource(4, node, ("log.retention.ms", "60000")),
            resource(4, "", ("log.retention.ms", "60000")),
        ],
        "not dynamic": [resource(4, node, ("num.partitions.x", "1")), resource(4, "", ("broker.id", "1"))],
        "no number": [
            resource(4, node, ("log.retention.ms", "x")),
            resource(4, "", ("log.retention.ms", "x")),
        ],
        "another broker": [resource(4, "77", ("log.retention.ms", "60000"))],
        "no value": [
            resource(4, node, ("log.retention.ms", None)),
            resource(2, s.named("b"), ("retention.ms", None)),
        ],
        "named twice": [resource(2, s.named("b"), ("retention.ms", "1"), ("retention.ms", "2"))],
        "of topics": [
            resource(2, s.named("b"), ("retention.ms", "x")),
            resource(2, s.named("b2"), ("no.such", "1")),
        ],
        "a resource twice": [resource(2, s.named("b"), ("retention.ms", "1"))] * 2,
        "of other kinds": [
            resource(32, s.named("g"), ("no.such", "1")),
            resource(16, "m", ("no.such", "1")),
            resource(16, "n", ("interval.ms", None)),
            resource(3, "x", ("no.such", "1")),
        ],
        "several": [
            resource(2, s.named("b"), ("retention.ms", "1000")),
            resource(4, "", ("log.retention.ms", "x")),
            resource(2, s.named("a"), ("retention.ms", "x")),
            resource(4, node, ("log.retention.ms", "60000")),
            resource(2, s.named("c"), ("retention.ms", "1000")),
        ],
    }
    for label, entries in wrong.items():
        asked: dict[str, Any] = {"resources": entries, "validate_only": True}
        yield label, alice.ask("incremental_alter_configs", **asked)["responses"]
        if label == "a resource twice":
            # No answer ever comes: real brokers fail when they count its errors.
            continue
        yield f"{label}, old", alice.ask("alter_configs", **{**asked, "resources": old(entries)})["responses"]
