"""Logins with signed tokens (RFC 7515, RFC 7519)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.sasl_listener import bearer, unsecured
from mockbroker.rig.scene import CLOSED
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named

from ..stage import Login, SaslStage
from . import keys

_HOUR_S: Final = 3600
_MB: Final = 1_000_000
_RIGHT: Final = {"sub": "alice", "iss": "https://issuer.test", "aud": "kafka"}
EXPECTED: Final = {
    "sasl.oauthbearer.expected.audience": "kafka,others",
    "sasl.oauthbearer.expected.issuer": _RIGHT["iss"],
}
_TIMES: Final = ("exp", "iat", "nbf")


class TokenStage(SaslStage):
    def claims(self, **given: Any) -> dict[str, Any]:
        """Right ones, but for what is given; None takes one away. Times are seconds from now."""
        now_s = self.brokers.now_ms() // 1000
        found = {**_RIGHT, "iat": 0, "exp": _HOUR_S, **given}
        for name in _TIMES:
            if isinstance(found.get(name), int | float) and found[name] is not True:
                found[name] += now_s
        return {name: value for name, value in found.items() if value is not None}

    def shown(self, token: str, by: str = "") -> Any:
        """The answer to a token, on a connection of its own."""
        return self.shown_by(self.login(), token, by)

    def shown_by(self, login: Login, token: str, by: str = "") -> Any:
        login.shake("OAUTHBEARER")
        return in_short(login.say(bearer(token, by)))

    def given(self, **claims: Any) -> Any:
        """The answer to a token of the first key with these claims."""
        return self.shown(keys.token(self.claims(**claims)))


def in_short(answer: Any) -> Any:
    """How long a session lasts depends on the time that a login takes."""
    if answer is CLOSED or not answer["session_lifetime"]:
        return answer
    lasts_s = -(-answer["session_lifetime"] // 1000)
    rounded = next((each for each in (4, _HOUR_S) if each - 3 <= lasts_s <= each), lasts_s)
    return {**answer, "session_lifetime": f"up to {rounded} s"}


def right(s: TokenStage) -> Steps:
    """Tokens that are taken: kinds of signatures, and claims that may be otherwise."""
    one = s.login()
    yield "RS256", s.shown_by(one, keys.token(s.claims()))
    yield "Metadata", one.ask("metadata", topics=[])
    for kid, alg in (("second", "RS256"), ("rsa", "PS256"), ("ec", "ES256"), ("okp", "EdDSA")):
        yield f"{alg} by {kid}", s.shown(keys.token(s.claims(), kid, alg))
    yield "HS256 with a secret that the file has", s.shown(keys.token(s.claims(), "secret", "HS256"))
    yield "no kid: the first of its kind", s.shown(keys.token(s.claims(), header_kid=None, typ="at+jwt"))
    for label, claims in _TAKEN.items():
        yield label, s.given(**claims)
    yield "as itself", s.shown(keys.token(s.claims()), "a=alice")
    yield "as another", s.shown(keys.token(s.claims()), "a=bob")
    yield "blanks around the subject, as another", s.shown(keys.token(s.claims(sub="  alice\t")), "a=bob")


_TAKEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "another subject": {"sub": "a user of some other system"},
    "a scope": {"scope": "read"},
    "scopes": {"scope": ["read", "write"]},
    "no scopes": {"scope": []},
    "a scope that is a number": {"scope": 5},
    "a scope that is an object": {"scope": {}},
    "the second audience": {"aud": "others"},
    "one of its audiences": {"aud": ["somebody", "kafka"]},
    "issued later": {"iat": 1000},
    "not before, in the past": {"nbf": -1000},
    "not before, within the skew": {"nbf": 20},
    "times with fractions": {"exp": _HOUR_S + 0.5, "iat": -0.5},
    "other claims": {"email": "alice@example.com", "realm_access": {"roles": ["a"]}},
}


def refused(s: TokenStage) -> Steps:
    """Claims for which tokens are refused."""
    for label, claims in _REFUSED.items():
        yield label, s.given(**claims)
    yield "claims that are no object", s.shown(keys.token([]))
    yield "claims that are no JSON", s.shown(keys.token(b"{"))
    twice = json.dumps(s.claims()).replace("{", '{"sub": "bob", ').encode()
    yield "the same claim twice", s.shown(keys.token(twice))
    yield "a claim that is NaN", s.given(more=float("nan"))


_REFUSED: Final[Mapping[str, Mapping[str, Any]]] = {
    "expired": {"iat": -1000, "exp": -40},
    "not yet valid": {"nbf": 100},
    "without exp": {"exp": None},
    "without iat": {"iat": None},
    "without sub": {"sub": None},
    "exp as text": {"exp": "tomorrow"},
    "exp that is true": {"exp": True},
    "iat as text": {"iat": "now"},
    "nbf as text": {"nbf": "now"},
    "exp before iat": {"iat": 5000},
    "exp before nbf": {"nbf": 5000},
    "exp that no long has": {"exp": 10**19},
    "exp of which no long has the milliseconds": {"exp": 9 * 10**17},
    "iat before 1970": {"iat": -(10**11)},
    "a subject that is a number": {"sub": 5},
    "an empty subject": {"sub": ""},
    "a blank subject": {"sub": " \t"},
    "an empty scope": {"scope": ""},
    "a blank scope": {"scope": "  "},
    "an empty scope among others": {"scope": ["read", ""]},
    "a scope of null among others": {"scope": ["read", None]},
    "a scope twice": {"scope": ["read", " read"]},
    "numbers as scopes": {"scope": [1]},
    "another issuer": {"iss": "https://somebody.test"},
    "no issuer": {"iss": None},
    "an issuer that is a number": {"iss": 5},
    "another audience": {"aud": "somebody"},
    "no audience": {"aud": None},
    "an empty list of audiences": {"aud": []},
    "an audience that is a number": {"aud": 5},
    "audiences that are numbers": {"aud": [5, "kafka"]},
    "an id that is a number": {"jti": 5},
}


def wrongly_signed(s: TokenStage) -> Steps:
    """Signatures, headers and forms for which tokens are refused."""
    claims = s.claims()
    head, body, signature = keys.token(claims).split(".")
    wrong, stranger = keys.rs256("stranger", f"{head}.{body}"), keys.jwk("stranger")
    for label, token in {
        "an unknown kid": keys.token(claims, "stranger"),
        "signed by another key": f"{head}.{body}.{wrong}",
        "the kid of another key": keys.token(claims, kid="rsa", header_kid="second"),
        "no kid: the first of its kind is not the one": keys.token(claims, "second", header_kid=None),
        "other claims": f"{head}.{keys.text(b'{}')}.{signature}",
        "part of the signature": f"{head}.{body}.{signature[:-4]}",
        "the algorithm none": unsecured(claims),
        "the algorithm none, with a signature": f"{unsecured(claims)}{signature}",
        "the algorithm None, with a signature": keys.token(claims, alg="None", signed=b"abc"),
        "no algorithm": keys.token(claims, alg=None, signed=b"abc"),
        "an algorithm that is a number": keys.token(claims, alg=5, signed=b"abc"),
        "an unknown algorithm": keys.token(claims, alg="RS255", signed=b"abc"),
        "the algorithm of another kind of key": keys.token(claims, "ec", "RS256", signed=b"abc"),
        "HS256 with the public key as the secret": keys.as_secret(claims, "rsa"),
        "HS256 with the public key as the secret, without a kid": keys.as_secret(claims, "rsa", None),
        "a key of 1024 bits": keys.token(claims, "small"),
        "a key for encryption": keys.token(claims, "encryption"),
        "a key of an unknown kind": keys.token(claims, header_kid="unknown"),
        "its own key in the header": keys.token(claims, "stranger", header_kid=None, jwk=stranger),
        "something critical that nobody knows": keys.token(claims, crit=["abc"], abc=1),
        "a kid that is a number": keys.token(claims, header_kid=5),
        "a nested token": keys.token(keys.token(claims).encode(), cty="JWT"),
        "nested, and no token": keys.token(claims, cty="JWT"),
        "garbage": "garbage",
        "two parts": f"{head}.{body}",
        "five parts": f"{head}.{body}.{signature}.{body}.{signature}",
        "no signature": f"{head}.{body}.",
        "no header": f".{body}.{signature}",
        "a header that is no JSON": f"abcd.{body}.{signature}",
        "a header that is no object": f"{keys.text(b'[]')}.{body}.{signature}",
        "no base64": f"{head}.{body}.a",
        "padded": f"{head}.{body}.{signature}==",
        "with a dot at the end": f"{head}.{body}.{signature}.",
        "of the standard's base64": f"{head}.{body}.{signature.replace('-', '+').replace('_', '/')}",
    }.items():
        yield label, s.shown(token)


def large(s: TokenStage) -> Steps:
    """`sasl.server.max.receive.size` is 512 KB."""
    for label, size in (("300 KB", 300_000), ("1 MB", _MB)):
        yield f"{label}, right", s.given(more="x" * size)
        yield f"{label} of garbage", s.shown("x" * size)
        yield f"{label} of brackets", s.shown(keys.token(b"[" * size))
    yield "400 levels", s.given(more=_nested(400))
    yield "then", s.given()


def _nested(levels: int) -> Any:
    found: Any = 0
    for _ in range(levels):
        found = [found]
    return found


def end(s: TokenStage) -> Steps:
    """Sessions end when tokens expire, unless clients show another one before (KIP-368)."""
    late = s.login()
    yield "expired, within the skew", s.shown_by(late, keys.token(s.claims(iat=-100, exp=-5)))
    yield "Metadata", late.ask("metadata", topics=[])
    again = s.login()
    yield "expired, within the skew", s.shown_by(again, keys.token(s.claims(iat=-100, exp=-5)))
    yield "another one at once", s.shown_by(again, keys.token(s.claims()))
    yield "Metadata", again.ask("metadata", topics=[])
    one, two, three, four, five = (s.login() for _ in range(5))
    for each in (one, two, three, four, five):
        yield "for 4 s", s.shown_by(each, keys.token(s.claims(exp=4)))
    yield "another one before", s.shown_by(two, keys.token(s.claims()))
    yield "another user's", s.shown_by(three, keys.token(s.claims(sub="bob")))
    yield "an expired one", s.shown_by(four, keys.token(s.claims(iat=-1000, exp=-100)))
    yield "then as RFC 7628 has it", four.say(b"\1")
    s.brokers.sleep(4.2)
    yield "Metadata", one.ask("metadata", topics=[])
    yield "Metadata after another one", two.ask("metadata", topics=[])
    yield "another one after", s.shown_by(five, keys.token(s.claims()))
    yield "Metadata", five.ask("metadata", topics=[])


def claim_names(s: TokenStage) -> Steps:
    """`sasl.oauthbearer.sub.claim.name` and `scope.claim.name`, and a skew of 100 s."""
    yield "as usual", s.given()
    named = {"sub": None, "email": "alice@example.com"}
    yield "as configured, as another", s.shown(keys.token(s.claims(**named)), "a=bob")
    yield "both", s.shown(keys.token(s.claims(email="a@b")), "a=a@b")
    yield "a subject that is a number beside it", s.given(email="a@b", sub=5)
    yield "roles", s.given(**named, roles=["a", "b"])
    yield "an empty role", s.given(**named, roles="")
    yield "an empty scope", s.given(**named, scope="")
    yield "expired, within the skew", s.given(**named, iat=-1000, exp=-60)
    yield "expired", s.given(**named, iat=-1000, exp=-110)


def unverified(s: TokenStage) -> Steps:
    """Nothing is said of the audience and the issuer, which since 4.4 has to be allowed."""
    yield "neither", s.given(aud=None, iss=None)
    yield "an issuer", s.given(aud=None)
    yield "an audience", s.given(iss=None)
    yield "no audience at all", s.given(aud=[])


_CLAIM_NAMES: Final = {
    "sasl.oauthbearer.sub.claim.name": "email",
    "sasl.oauthbearer.scope.claim.name": "roles",
    "sasl.oauthbearer.clock.skew.seconds": "100",
}
_UNVERIFIED: Final = {f"sasl.oauthbearer.allow.unverified.{name}": "true" for name in ("audience", "issuer")}
STORIES: Final = Told(
    Path(__file__).parent,
    named(right, refused, wrongly_signed, large, end, claim_names, unverified),
    TokenStage,
    Setting(1, BROKER_CONFIG, sasl=True, jwks=keys.jwks),
    configs={
        **dict.fromkeys(("right", "refused", "wrongly_signed", "large", "end"), EXPECTED),
        "claim_names": EXPECTED | _CLAIM_NAMES,
        "unverified": _UNVERIFIED,
    },
)
