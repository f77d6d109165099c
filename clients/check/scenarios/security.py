"""TLS, logins and ACLs: what clients tell their users when they may not go on, and whether they do later."""

from typing import Any, Final

from ..scenario import Scenario, member, producer, scenario
from ..scene import Scene

_ONE: Final = {"offsets.topic.num.partitions": "1"}
_USERS: Final = {"alice": "secret"}
_SCRAM: Final = {"sasl": ["scram-sha-512"], "users": _USERS}
_WRITES: Final = "alice allow write on topic:t"
_READS: Final = "alice allow read on topic:t"
_ACLS: Final = [_WRITES, _READS, "alice allow read on group:g", "alice allow idempotent_write on cluster"]


def _logs_in(mechanism: str, **security: Any) -> Scenario:
    async def tell(scene: Scene) -> None:
        """A user logs in, writes, reads and commits."""
        await scene.sends("producer", 3)
        await scene.reads("a", 3)
        await scene.commits("a")

    given = {"sasl": [mechanism], "users": _USERS, **security}
    made = scenario(
        f"login-{mechanism}",
        f"a user logs in by {mechanism.upper()}",
        [producer(), member("a")],
        config=_ONE,
        security=given,
    )
    return made(tell)


_plain = _logs_in("plain", tls=True)
_scram_256 = _logs_in("scram-sha-256")
_scram_512 = _logs_in("scram-sha-512", tls=True)


@scenario(
    "login-refused",
    "the password is wrong for a while",
    [producer(), member("a")],
    config=_ONE,
    security=_SCRAM,
)
async def _refused(scene: Scene) -> None:
    """Brokers refuse each login of a producer and a consumer, as if the password were wrong, until both have
    told their users of an error."""
    scene.cluster.faults.add("error", api="SaslAuthenticate", error="SASL_AUTHENTICATION_FAILED")
    await scene.sends("producer", 1)
    await scene.hears("producer")
    await scene.hears("a")


@scenario(
    "certificate-expired",
    "the brokers' certificate has expired for a while",
    [producer(), member("a")],
    config=_ONE,
    security={"tls": True},
)
async def _expired(scene: Scene) -> None:
    """A producer and a consumer begin while brokers show a certificate that has expired, until both have told
    their users of an error. Then it is renewed."""
    scene.cluster.show_certificate("expired")
    try:
        await scene.sends("producer", 1)
        await scene.hears("producer")
        await scene.hears("a")
    finally:
        scene.cluster.show_certificate("valid")


@scenario(
    "acl-withdrawn",
    "ACLs are withdrawn from a producer and a consumer, and granted again",
    [producer(), member("a")],
    source="KIP-801",
    config=_ONE,
    security={**_SCRAM, "acls": _ACLS},
)
async def _withdrawn(scene: Scene) -> None:
    """A producer writes and a consumer reads; then they may not, until both have told their users of an
    error."""
    await scene.sends("producer", 2)
    await scene.reads("a", 2)
    for acl in (_WRITES, _READS):
        scene.cluster.remove_acl(acl)
    try:
        await scene.sends("producer", 1)
        await scene.hears("producer")
        await scene.hears("a")
    finally:
        for acl in (_WRITES, _READS):
            scene.cluster.add_acl(acl)
