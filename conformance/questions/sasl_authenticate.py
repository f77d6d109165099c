"""SaslAuthenticate (KIP-152, KIP-368) where no listener has SASL."""

from ..registry import Scene, Steps


def without_sasl(s: Scene) -> Steps:
    for label, token in (("name and password", b"\0user\0secret"), ("nothing", b"")):
        yield label, s.ask(auth_bytes=token)
    yield "after a handshake", [s.call("sasl_handshake", {"mechanism": "PLAIN"}), s.ask(auth_bytes=b"\0a\0b")]
    yield "the connection stays open", s.call("heartbeat", {"group_id": s.name("g"), "member_id": "m"})
