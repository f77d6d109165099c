"""Delegation tokens: who may make, change and see them, and who logs in with them (KIP-48, KIP-373)."""

from pathlib import Path
from typing import Any, Final

from mockbroker.rig.client import Client
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named

from ..acls.stories import AUTHORIZING
from ..driving.scram import ScramClient
from .stage import Token, TokenStage, principals

_LONG_MS: Final = 10**13
TOKENS: Final = {
    "delegation.token.secret.key": "the secret key of tokens",
    "delegation.token.max.lifetime.ms": "7200000",
    "delegation.token.expiry.time.ms": "3600000",
}


def _owned(kind: str | None, name: str | None) -> dict[str, Any]:
    return {"owner_principal_type": kind, "owner_principal_name": name}


def _shown(answer: Any) -> Any:
    """Without the token itself."""
    if isinstance(answer, dict) and "token" in answer:
        token_id, hmac = answer.pop("token")
        answer |= {"id": len(token_id), "hmac": len(hmac)}
    return answer


def creating(s: TokenStage) -> Steps:
    """CreateDelegationToken."""
    alice = s.user().client

    def create(client: Client = alice, version: int | None = None, *renewers: str, **fields: Any) -> Any:
        given = {"renewers": principals(*renewers), "max_lifetime": -1, **fields}
        return _shown(s.asks_for(client, "create", version, **given))

    for version in (1, 2, 3):
        yield f"v{version}", create(version=version)
    for lifetime_ms in (-2, 0, 1, 1000, 5_000_000, _LONG_MS):
        yield f"a lifetime of {lifetime_ms}", create(max_lifetime=lifetime_ms)
    yield "renewers", create(alice, None, "bob", "carol", "bob")
    yield "a renewer that is no user", create(alice, None, "bob", "Group:ops")
    yield "a renewer without a name", create(alice, None, "")
    owners = (
        ("User", "alice"),
        ("User", "bob"),
        ("Group", "bob"),
        ("User", ""),
        ("User", None),
        (None, "bob"),
        (None, None),
        ("", "bob"),
    )
    for owner in owners:
        yield f"owned by {owner}", create(**_owned(*owner))
    yield "owned by bob, a renewer that is no user", create(alice, None, "Group:ops", **_owned("User", "bob"))
    acls = [f"alice allow create_tokens on user:{each}" for each in ("User:bob", "Group:bob")]
    everybody = {
        "resource_type": 7,
        "resource_pattern_type": 3,
        "host": "*",
        "permission_type": 3,
        "operation": 13,
    }
    for name in ("User:bob", "Group:bob"):
        added = {**everybody, "resource_name": name, "principal": "User:alice"}
        s.ask("create_acls", {"creations": [added]})
    s.brokers.until(lambda: create(**_owned("Group", "bob"))["error"] == "NONE", f"{acls}")
    for owner in owners:
        yield f"may create: owned by {owner}", create(**_owned(*owner))
    yield "may create: a renewer that is no user", create(alice, None, "Group:ops", **_owned("User", "bob"))
    yield "not logged in", create(s.client())
    yield "not logged in, owned by bob", create(s.client(), **_owned("User", "bob"))
    yield "a super user", create(s.user("admin").client, **_owned("User", "bob"))


def renewing(s: TokenStage) -> Steps:
    """RenewDelegationToken."""
    alice, bob, carol = (s.user(each).client for each in ("alice", "bob", "carol"))

    def renew(client: Client, hmac: bytes, period_ms: int = -1, version: int | None = None) -> Any:
        return s.asks_for(client, "renew", version, hmac=hmac, renew_period=period_ms)

    yield "no HMAC", renew(alice, b"")
    yield "an unknown one", renew(alice, b"h" * 64)
    token = s.create(alice, "a", "bob")
    for version in (1, 2):
        yield f"v{version}", renew(alice, token.hmac, version=version)
    yield "by a renewer", renew(bob, token.hmac)
    yield "by a stranger", renew(carol, token.hmac)
    yield "not logged in", renew(s.client(), token.hmac)
    admin = s.user("admin").client
    yield "by a super user", renew(admin, token.hmac)
    for period_ms in (-2, 0, 1_200_000, _LONG_MS):
        yield f"for {period_ms}", renew(alice, token.hmac, period_ms)
    other = s.create(admin, "b", **_owned("User", "bob"))
    yield "by the requester", renew(admin, other.hmac)
    yield "by the owner", renew(bob, other.hmac)
    short = s.create(alice, "short", lifetime_ms=1000)
    s.brokers.sleep(1.2)
    yield "expired", renew(alice, short.hmac)
    yield "expired, by a stranger", renew(carol, short.hmac)


def expiring(s: TokenStage) -> Steps:
    """ExpireDelegationToken."""
    alice, bob, carol = (s.user(each).client for each in ("alice", "bob", "carol"))

    def expire(client: Client, hmac: bytes, period_ms: int = -1, version: int | None = None) -> Any:
        return s.asks_for(client, "expire", version, hmac=hmac, expiry_time_period=period_ms)

    yield "no HMAC", expire(alice, b"")
    yield "an unknown one", expire(alice, b"h" * 64)
    token = s.create(alice, "a", "bob")
    yield "by a stranger", expire(carol, token.hmac)
    yield "not logged in", expire(s.client(), token.hmac)
    yield "by a super user", expire(s.user("admin").client, token.hmac)
    for period_ms in (600_000, 5_000_000, _LONG_MS):
        yield f"in {period_ms}", expire(alice, token.hmac, period_ms)
    s.brokers.sleep(1)
    yield "shown", s.asks_for(alice, "describe", owners=None)
    for version in (1, 2):
        yield f"v{version}", expire(alice, token.hmac, 600_000, version=version)
    yield "at once, by a renewer", expire(bob, token.hmac)
    s.brokers.until(lambda: not s.knows(alice, token), "no token")
    yield "again", expire(alice, token.hmac)
    yield "shown", s.asks_for(alice, "describe", owners=None)
    now = s.create(alice, "now")
    yield "in 0", expire(alice, now.hmac, 0)
    s.brokers.sleep(0.2)
    yield "in 0 again", expire(alice, now.hmac, 0)
    yield "expired, in 1000", expire(alice, now.hmac, 1000)
    yield "expired, by a stranger", expire(carol, now.hmac, 1000)
    yield "expired, shown", s.asks_for(alice, "describe", owners=None)
    yield "expired, at once", expire(alice, now.hmac, -5)


def describing(s: TokenStage) -> Steps:
    """DescribeDelegationToken."""
    alice, bob, carol, admin = (s.user(each).client for each in ("alice", "bob", "carol", "admin"))
    first = s.create(alice, "first", "carol", "dora")
    s.create(bob, "second")
    s.create(admin, "third", "alice", **_owned("User", "bob"))

    def describe(client: Client, *owners: str, version: int | None = None) -> Any:
        return s.asks_for(client, "describe", version, owners=principals(*owners) if owners else None)

    for version in (1, 2, 3):
        yield f"v{version}", describe(alice, version=version)
    yield "of nobody", s.asks_for(alice, "describe", owners=[])
    for who, client in (("alice", alice), ("bob", bob), ("carol", carol), ("a super user", admin)):
        for owners in ((), ("alice",), ("bob",), ("carol",), ("alice", "bob"), ("Group:alice",), ("admin",)):
            yield f"{who}, of {owners}", describe(client, *owners)
    yield "not logged in", describe(s.client())
    erik = s.user("erik").client
    yield "a stranger", describe(erik)
    acl = {"resource_pattern_type": 3, "principal": "User:erik", "host": "*", "permission_type": 3}
    for label, more in (
        ("may describe the token", {"resource_type": 6, "resource_name": first.id, "operation": 8}),
        ("may describe tokens of bob", {"resource_type": 7, "resource_name": "User:bob", "operation": 14}),
    ):
        before = len(describe(erik)["tokens"])
        s.ask("create_acls", {"creations": [{**acl, **more}]})
        s.brokers.until(lambda count=before: len(describe(erik)["tokens"]) > count, label)  # type: ignore[misc]
        yield label, describe(erik)
        yield f"{label}, of bob", describe(erik, "bob")


def logging_in(s: TokenStage) -> Steps:
    """Logins with a token."""
    alice = s.user().client
    s.set_scram("alice", "secret", 1)
    token = s.create(alice, "a")
    for digest in ("sha256", "sha512"):
        yield digest, s.log_in(token, digest)[1]
    login, told = s.log_in(token)
    yield "logged in", told
    yield "create", _shown(s.asks_for(login.client, "create", renewers=[], max_lifetime=-1))
    yield (
        "create for another",
        _shown(s.asks_for(login.client, "create", renewers=[], max_lifetime=-1, **_owned("User", "bob"))),
    )
    yield "renew", s.asks_for(login.client, "renew", hmac=token.hmac, renew_period=-1)
    yield "expire", s.asks_for(login.client, "expire", hmac=token.hmac, expiry_time_period=-1)
    yield "describe", s.asks_for(login.client, "describe", owners=None)
    s.topics("t")
    asked: dict[str, Any] = {"topics": [{"name": s.named("t")}]}
    yield "what alice may not", login.client.call("metadata", 9, asked)["topics"][0]["error_code"]
    s.give("alice allow describe on topic:t")
    yield "what alice may", login.client.call("metadata", 9, asked)["topics"][0]["error_code"]
    for label, more in (
        ("TRUE", ",tokenauth=TRUE"),
        ("false", ",tokenauth=false"),
        ("no extension", ""),
        ("another extension", ",other=true"),
        ("twice", ",tokenauth=false,tokenauth=true"),
    ):
        yield f"tokenauth: {label}", s.log_in(token, more=more)[1]
    yield "another HMAC", s.log_in(token, password=Token("", b"h" * 64).password)[1]
    yield "an unknown token", s.log_in(token, user="nobody")[1]
    yield "a user, as a token", s.log_in(token, user="alice", password="secret")[1]
    for label, acting in (("itself", token.id), ("its owner", "alice"), ("another", "bob")):
        one = s.login()
        one.shake("SCRAM-SHA-256")
        scram = ScramClient(token.id, token.password, more=",tokenauth=true")
        answer = one.say(scram.first(f"n,a={acting},"))
        yield (
            f"as {label}",
            answer["error_code"],
        )
    two, _ = s.log_in(token)
    s.brokers.sleep(1.1)
    again = ScramClient(token.id, token.password, more=",tokenauth=true")
    yield "again", s.log_in_again(two, again)
    yield "then create", _shown(s.asks_for(two.client, "create", renewers=[], max_lifetime=-1))
    s.brokers.sleep(1.1)
    yield "again as alice herself", s.log_in_again(two, ScramClient("alice", "secret"))
    yield "then create", _shown(s.asks_for(two.client, "create", renewers=[], max_lifetime=-1))


def of_others(s: TokenStage) -> Steps:
    """Whom a login with the token of another makes."""
    admin = s.user("admin").client
    bobs = s.create(admin, "bob's", **_owned("User", "bob"))
    groups = s.create(admin, "of a group", **_owned("Group", "ops"))
    s.topics("t")
    asked: dict[str, Any] = {"topics": [{"name": s.named("t")}]}
    s.give("bob allow describe on topic:t")
    for label, token in (("bob's", bobs), ("of a group", groups)):
        login, told = s.log_in(token)
        yield label, told
        yield f"{label}, describes", login.client.call("metadata", 9, asked)["topics"][0]["error_code"]


def over(s: TokenStage) -> Steps:
    """Sessions end with their tokens."""
    alice = s.user().client
    token = s.create(alice, "a", lifetime_ms=4000)
    one, told = s.log_in(token)
    yield "in time", told
    yield "Metadata", one.ask("metadata", topics=[])
    s.brokers.sleep(4.2)
    yield "Metadata then", one.ask("metadata", topics=[])
    late, told = s.log_in(token)
    yield "late", told
    s.brokers.sleep(0.1)
    yield "Metadata, late", late.ask("metadata", topics=[])
    yield "still shown", s.asks_for(alice, "describe", owners=None)
    gone = s.create(alice, "b")
    two, told = s.log_in(gone)
    yield "another", told
    s.asks_for(alice, "expire", hmac=gone.hmac, expiry_time_period=-1)
    s.brokers.until(lambda: not s.knows(alice, gone), "no token")
    yield "Metadata after the token", two.ask("metadata", topics=[])
    yield "a login after the token", s.log_in(gone)[1]


def swept(s: TokenStage) -> Steps:
    """`delegation.token.expiry.check.interval.ms`."""
    alice = s.user().client
    s.create(alice, "stays")
    token = s.create(alice, "goes", lifetime_ms=1000)
    s.brokers.until(lambda: not s.knows(alice, token), "no token")
    yield "shown", s.asks_for(alice, "describe", owners=None)
    yield "renew", s.asks_for(alice, "renew", hmac=token.hmac, renew_period=-1)
    yield "expire", s.asks_for(alice, "expire", hmac=token.hmac, expiry_time_period=-1)
    yield "a login", s.log_in(token)[1]


def _all_four(s: TokenStage, client: Client) -> Steps:
    given: dict[str, Any] = {"renewers": [], "max_lifetime": -1}
    yield "create", _shown(s.asks_for(client, "create", **given))
    yield "create for another", _shown(s.asks_for(client, "create", **given, **_owned("User", "bob")))
    given["renewers"] = principals("Group:ops")
    yield "create with a renewer that is no user", _shown(s.asks_for(client, "create", **given))
    yield "renew", s.asks_for(client, "renew", hmac=b"h" * 64, renew_period=-1)
    yield "expire", s.asks_for(client, "expire", hmac=b"h" * 64, expiry_time_period=-1)
    yield "describe", s.asks_for(client, "describe", owners=None)
    yield "describe of nobody", s.asks_for(client, "describe", owners=[])


def disabled(s: TokenStage) -> Steps:
    """Without a secret key."""
    yield from _all_four(s, s.user().client)
    yield "a login", s.log_in(Token("some-id", b"h" * 64))[1]


def without_an_authorizer(s: TokenStage) -> Steps:
    """Everybody may do everything."""
    yield from _all_four(s, s.user().client)
    s.create(s.user().client, "a", **_owned("User", "bob"))
    for who in ("alice", "bob", "carol"):
        yield f"{who} describes", s.asks_for(s.user(who).client, "describe", owners=None)


def master_key(s: TokenStage) -> Steps:
    """The older name of the secret key."""
    yield from _all_four(s, s.user().client)


_WITH_ACLS: Final = {**AUTHORIZING, **TOKENS}
STORIES: Final = Told(
    Path(__file__).parent,
    named(
        creating,
        renewing,
        expiring,
        describing,
        logging_in,
        of_others,
        over,
        swept,
        disabled,
        without_an_authorizer,
        master_key,
    ),
    TokenStage,
    Setting(1, BROKER_CONFIG, sasl=True),
    {
        **dict.fromkeys(
            ("creating", "renewing", "expiring", "describing", "logging_in", "of_others", "over"), _WITH_ACLS
        ),
        "swept": {**_WITH_ACLS, "delegation.token.expiry.check.interval.ms": "2000"},
        "disabled": AUTHORIZING,
        "without_an_authorizer": TOKENS,
        "master_key": {"delegation.token.master.key": "the secret key of tokens"},
    },
)
