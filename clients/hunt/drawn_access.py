"""Plans with TLS, logins and ACLs, which clients lose for a while: any plan, on a cluster that has them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final, get_args

from mockbroker.security import CertificateKind

from .plan import USER, Plan, Step

_PASSWORD: Final = "secret"
_MECHANISMS: Final = ("plain", "scram-sha-256", "scram-sha-512")
_OAUTH: Final = "oauthbearer"
_WITH_TOKENS: Final = 0.25
"""So many plans are played with signed tokens, if the client asks an issuer for them."""
_TOKENS_S: Final = (12, 3600)
"""For how many seconds they are valid."""
_ACLS: Final = tuple(
    f"{USER} allow {operations} on {what}"
    for operations, what in (
        ("write", "topic:*"),
        ("read", "topic:*"),
        ("describe,create,alter", "topic:*"),
        ("read", "group:*"),
        ("write", "transactional-id:*"),
        ("describe", "transactional-id:*"),
        ("idempotent_write", "cluster"),
        ("describe", "cluster"),
    )
)
_WITHDRAWN: Final = 5
"""So many of them, the first ones, may be withdrawn: clients can't be without the others."""
_CERTIFICATES: Final = tuple(each for each in get_args(CertificateKind) if each != "valid")
_QUIET: Final = 0.15
"""So many plans have nothing but logins and sessions that end."""
_ALONE: Final = 0.6
"""In so many of the others nothing else happens to the cluster."""
_SESSION_MS: Final = 2_000
"""Brokers refuse clients that log in again within a second."""
_AWAY_MS: Final = (200, 1_000, 3_000, 9_000)
"""How long clients are without something; the last is longer than `delivery.timeout.ms`."""


def secured(plan: Plan, capabilities: Collection[str] = ()) -> Plan:
    """The plan on a cluster with TLS, logins and ACLs. The same plan and capabilities give the same."""
    random = Random(f"hunt security {plan.seed}")
    mechanism = random.choice(_MECHANISMS)
    security: dict[str, Any] = {"tls": True, "acls": list(_ACLS)}
    config = dict(plan.config)
    # With a stream of its own: other plans stay as they were.
    of_tokens = Random(f"hunt tokens {plan.seed}")
    if "oidc" in capabilities and of_tokens.random() < _WITH_TOKENS:
        mechanism = _OAUTH
        security |= {"signed_tokens": True, "token_expires_in": of_tokens.choice(_TOKENS_S)}
        # Otherwise tokens that have expired are taken for half a minute.
        config["sasl.oauthbearer.clock.skew.seconds"] = "0"
    else:
        security["users"] = {USER: _PASSWORD}
    security["sasl"] = [mechanism]
    if random.random() < 0.5:
        config["connections.max.reauth.ms"] = str(_SESSION_MS)
    steps: list[Step] = []
    if random.random() >= _QUIET:
        steps = [] if random.random() < _ALONE else list(plan.steps)
        for _ in range(random.choice((1, 1, 2, 3))):
            steps += random.choice(_EVENTS)(random, mechanism)
    return replace(plan, steps=tuple(steps), config=config, security=security)


def _password(random: Random, mechanism: str) -> list[Step]:
    if mechanism == _OAUTH:
        return _refused(random, mechanism)
    change = Step("set-password", _when(random), {"user": USER, "password": "another"})
    remove = Step("remove-user", _when(random), {"user": USER})
    back = Step("set-password", random.choice(_AWAY_MS), {"user": USER, "password": _PASSWORD})
    return [random.choice((change, change, remove)), *_connect_again(random), back]


def _refused(random: Random, mechanism: str) -> list[Step]:
    fault = {"do": "error", "api": "SaslAuthenticate", "error": "SASL_AUTHENTICATION_FAILED"}
    return _at_a_login(random, fault)


def _wrong(random: Random, mechanism: str) -> list[Step]:
    if not mechanism.startswith("scram"):
        return _refused(random, mechanism)
    return _at_a_login(random, {"do": random.choice(("wrong-signature", "wrong-nonce"))})


def _at_a_login(random: Random, fault: Mapping[str, Any]) -> list[Step]:
    nth = {"nth": random.choice((1, 2, 3, 5))} if fault["do"] == "error" else {}
    times = random.choice((1, 1, 3, 10))
    step = Step("fault", _when(random), {**fault, **nth, "times": times})
    return [step, *_connect_again(random)]


def _certificate(random: Random, mechanism: str) -> list[Step]:
    shown = Step("show-certificate", _when(random), {"certificate": random.choice(_CERTIFICATES)})
    back = Step("show-certificate", random.choice(_AWAY_MS), {"certificate": "valid"})
    return [shown, *_connect_again(random), back]


def _handshakes(random: Random, mechanism: str) -> list[Step]:
    # Not `stall`: clients wait for that longer than a hunt waits for them.
    fields = {"how": random.choice(("cut", "plain-text")), "times": random.choice((1, 3, 10))}
    return [Step("break-handshakes", _when(random), fields), *_connect_again(random)]


def _acl(random: Random, mechanism: str) -> list[Step]:
    acl = {"acl": random.choice(_ACLS[:_WITHDRAWN])}
    return [Step("remove-acl", _when(random), acl), Step("add-acl", random.choice(_AWAY_MS), acl)]


def _when(random: Random) -> int:
    return random.choice((0, 0, 50, 200, 500))


def _connect_again(random: Random) -> list[Step]:
    """Connections that there are stay as they are: some are lost."""
    lost = {"do": "disconnect", "when": "before", "times": random.choice((1, 3))}
    return [Step("fault", 0, lost)] if random.random() < 0.7 else []


_EVENTS: Final[tuple[Callable[[Random, str], list[Step]], ...]] = (
    _password,
    _refused,
    _wrong,
    _certificate,
    _handshakes,
    _acl,
    _acl,
)
