"""SaslHandshake (KIP-43, KIP-152) where no listener has SASL."""

from ..registry import Scene, Steps


def without_sasl(s: Scene) -> Steps:
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "no such", ""):
        yield mechanism, s.ask(mechanism=mechanism)
    yield "the connection stays open", s.call("heartbeat", {"group_id": s.name("g"), "member_id": "m"})
