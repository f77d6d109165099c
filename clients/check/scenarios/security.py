"""TLS, logins and ACLs: what clients tell their users when they may not go on, and whether they do later."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from ..scenario import Scenario, member, producer, scenario
from ..scene import Scene

_ONE: Final = {"offsets.topic.num.partitions": "1"}
# Brokers refuse clients that log in again within a second.
_SESSION: Final = {**_ONE, "connections.max.reauth.ms": "2000"}
_USERS: Final = {"alice": "secret"}
_PLAIN: Final = {"sasl": ["plain"], "users": _USERS}
_SCRAM: Final = {"sasl": ["scram-sha-512"], "users": _USERS}
_WRITES: Final = "alice allow write on topic:t"
_READS: Final = "alice allow read on topic:t"
_ACLS: Final = [_WRITES, _READS, "alice allow read on group:g", "alice allow idempotent_write on cluster"]
_OIDC: Final = frozenset({"oidc"})
_TOKEN_S: Final = 12
"""librdkafka looks once a second whether a token is to be renewed, and logs in again a tenth of its time
before it expires."""
_TOKENS: Final = {"sasl": ["oauthbearer"], "signed_tokens": True, "token_expires_in": _TOKEN_S}
_NO_SKEW: Final = {**_ONE, "sasl.oauthbearer.clock.skew.seconds": "0"}
_BOTH: Final = ("producer", "a")
_LOGINS: Final = 5
"""So many times each client logs in: at least to one broker again and again."""


def _accessing(
    name: str, title: str, security: Mapping[str, Any], **given: Any
) -> Callable[[Callable[[Scene], Awaitable[None]]], Scenario]:
    users = [producer(), member("a")]
    given = {"config": _ONE, "is_about_access": True, **given}
    return scenario(name, title, users, security=security, **given)


def _gets_in(name: str, title: str, security: Mapping[str, Any], **given: Any) -> Scenario:
    async def tell(scene: Scene) -> None:
        """A producer and a consumer get in; they write, read and commit."""
        for _ in range(3):
            await scene.sends("producer", 1)
        await scene.reads("a", 3)
        await scene.commits("a")

    return _accessing(name, title, security, **given)(tell)


def _logs_in(mechanism: str, **security: Any) -> Scenario:
    title = f"a user logs in by {mechanism.upper()}"
    return _gets_in(f"login-{mechanism}", title, {"sasl": [mechanism], "users": _USERS, **security})


_plain = _logs_in("plain", tls=True)
_scram_256 = _logs_in("scram-sha-256")
_scram_512 = _logs_in("scram-sha-512", tls=True)
_token = _gets_in(
    "login-oauthbearer",
    "a user logs in by OAUTHBEARER",
    {"sasl": ["oauthbearer"], "tls": True},
    source="KIP-255",
    needs=frozenset({"sasl.oauthbearer.config"}),
)
_oidc = _gets_in(
    "login-oidc",
    "clients ask an issuer for tokens, and log in with them",
    {"sasl": ["oauthbearer"], "signed_tokens": True, "tls": True},
    source="KIP-768",
    needs=_OIDC,
)
_certificate = _gets_in(
    "login-certificate", "clients show certificates", {"tls": True, "client_auth": "required"}
)


async def _begins(scene: Scene) -> None:
    await scene.sends("producer", 1)
    await scene.reads("a", 1)


@_accessing("re-authentication", "sessions end under load", _SCRAM, source="KIP-368", config=_SESSION)
async def _again(scene: Scene) -> None:
    """Sessions end after two seconds, while a producer writes and a consumer reads: each has to log in again
    and again, and nobody should notice."""

    def enough(name: str) -> bool:
        return scene.logins(name) >= _LOGINS

    await scene.at_work(_BOTH, enough)
    for name in _BOTH:
        await scene.until(f"{name} has logged in {_LOGINS} times", partial(enough, name))


@_accessing(
    "token-renewed", "tokens expire under load", _TOKENS, source="KIP-768", config=_NO_SKEW, needs=_OIDC
)
async def _renewed(scene: Scene) -> None:
    """Tokens are valid for twelve seconds, and sessions end with them, while a producer writes and a consumer
    reads: each has to ask for another token and log in with it, and nobody should notice."""

    def enough(name: str) -> bool:
        return scene.logs_in_for_s(name) > _TOKEN_S

    await scene.at_work(_BOTH, enough, 3 * _TOKEN_S)
    for name in _BOTH:
        await scene.until(f"{name} has logged in with another token", partial(enough, name))


@_accessing("password-wrong", "the password is wrong for a while", _SCRAM)
async def _wrong(scene: Scene) -> None:
    """A producer and a consumer begin with a wrong password, until both have told their users of an error, or
    for ten seconds. Then it becomes the right one."""
    await scene.happens("set-password", user="alice", password="another")
    await scene.hears(*_BOTH)


@_accessing("login-refused", "one login is refused", _PLAIN, source="KIP-368", brokers=1, config=_SESSION)
async def _refused(scene: Scene) -> None:
    """Sessions end after two seconds, while a producer writes and a consumer reads. The third login of each
    is refused, as if the password were wrong, and no other."""
    for name in _BOTH:
        scene.refuses_login(name, nth=3)
    await scene.hears(*_BOTH)


@_accessing("password-changed", "a password is changed while its user is at work", _SCRAM, config=_SESSION)
async def _changed(scene: Scene) -> None:
    """Sessions end after two seconds, while a producer writes and a consumer reads. The password is changed,
    until both have told their users of an error, or for ten seconds. Then it is what it was."""
    await _begins(scene)
    await scene.happens("set-password", user="alice", password="another")
    await scene.hears(*_BOTH)


@_accessing("certificate-expired", "the brokers' certificate has expired for a while", {"tls": True})
async def _expired(scene: Scene) -> None:
    """A producer and a consumer begin while brokers show a certificate that has expired, until both have told
    their users of an error, or for ten seconds. Then it is renewed."""
    await scene.happens("show-certificate", certificate="expired")
    await scene.hears(*_BOTH)


@_accessing("acl-withdrawn", "ACLs are withdrawn for a while", {**_SCRAM, "acls": _ACLS}, source="KIP-801")
async def _withdrawn(scene: Scene) -> None:
    """A producer writes and a consumer reads. Then they may not, until both have told their users of an
    error, or for ten seconds. Then they may again."""
    await _begins(scene)
    for acl in (_WRITES, _READS):
        await scene.happens("remove-acl", acl=acl)
    await scene.hears(*_BOTH)
