"""Whatever a token says, it is taken only if it is signed, and is never more than refused."""

import json
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.sasl.jwks import Keys
from mockbroker.sasl.oauthbearer import Grant, InvalidTokenError
from mockbroker.sasl.signed import Expected, SignedTokens

from ...properties import examples
from . import keys

NOW_S = 1_700_000_000
EXPECTED = Expected(audiences=("kafka",), issuer="me", skew_s=30, scope_claim="scope", sub_claim="sub")
RIGHT = {"sub": "alice", "iss": "me", "aud": "kafka", "iat": NOW_S, "exp": NOW_S + 60}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from([*RIGHT, "nbf", "jti", "scope"])


def checked(token: str) -> Grant | None:
    with suppress(InvalidTokenError, ValueError):
        return SignedTokens(Keys.of(keys.jwks()), EXPECTED, NOW_S * 1000).check(token)
    return None


def test_the_right_one_is_taken() -> None:
    assert checked(keys.token(RIGHT)) == Grant("alice", (NOW_S + 60) * 1000)


@given(st.dictionaries(names, values, max_size=4))
@settings(max_examples=examples(200), deadline=None)
def test_any_claims(changes: dict[str, object]) -> None:
    claims = {**RIGHT, **changes}
    granted = checked(keys.token(claims))
    if granted is not None:
        assert claims["iss"] == "me"
        assert granted.user == str(claims["sub"]).strip("".join(map(chr, range(33))))
        assert granted.expires_ms > (NOW_S - 30) * 1000


@given(st.dictionaries(st.sampled_from(["alg", "header_kid", "crit", "b64", "cty", "typ"]), values))
@settings(max_examples=examples(200), deadline=None)
def test_any_header(header: dict[str, object]) -> None:
    given = dict(header)
    alg = given.pop("alg", "RS256")
    checked(keys.token(RIGHT, alg=alg, signed=b"x", **given))  # type: ignore[arg-type]


@given(st.data(), st.sampled_from(["rsa", "ec", "okp", "secret"]))
@settings(max_examples=examples(200), deadline=None)
def test_what_was_changed_is_not_taken(data: st.DataObject, kid: str) -> None:
    algorithm = {"rsa": "RS256", "ec": "ES256", "okp": "EdDSA", "secret": "HS256"}[kid]
    token = keys.token(RIGHT, kid, algorithm)
    at = data.draw(st.integers(0, token.rindex(".") - 1))
    other = data.draw(st.sampled_from("Aa0-_.~+/"))
    changed = token[:at] + other + token[at + 1 :]
    assert (checked(changed) is None) == (changed != token)
    parts = token.split(".")
    moved = json.dumps({**RIGHT, "sub": "bob"}).encode()
    assert checked(f"{parts[0]}.{keys.text(moved)}.{parts[2]}") is None


@given(st.text("abcdefgh.-_~+/=", max_size=60))
@settings(max_examples=examples(200), deadline=None)
def test_any_text(text: str) -> None:
    assert checked(text) is None
