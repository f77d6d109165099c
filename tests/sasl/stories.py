"""Logins, and what is not one."""

import struct
from pathlib import Path
from typing import Final

from mockbroker.rig.sasl_listener import bearer, unsecured
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named

from ..driving.scram import ScramClient
from .stage import SaslStage, plain

SHA_256: Final = 1
SHA_512: Final = 2
_TOO_LARGE: Final = 524_288 + 1
"""`sasl.server.max.receive.size` is one less."""


def before_a_login(s: SaslStage) -> Steps:
    """What is taken of clients that have not logged in."""
    one = s.login()
    yield "ApiVersions", one.ask("api_versions", client_software_name="c", client_software_version="1")
    yield "and again", one.ask("api_versions", client_software_name="c", client_software_version="1")
    two = s.login()
    yield "Metadata first", two.ask("metadata", topics=[])
    three = s.login()
    yield "ApiVersions", three.ask("api_versions", client_software_name="c", client_software_version="1")
    yield "Metadata", three.ask("metadata", topics=[])
    four = s.login()
    yield "SaslAuthenticate first", four.say(plain("alice", "secret"))
    five = s.login()
    yield "an ApiVersions that no broker has", five.ask_unknown_version("api_versions", 99)
    yield "ApiVersions then", five.ask("api_versions", client_software_name="c", client_software_version="1")
    yield "SaslHandshake then", five.shake("PLAIN")
    six = s.login()
    yield "an ApiVersions without a name", six.ask("api_versions")
    yield "SaslHandshake then", six.shake("PLAIN")
    seven = s.login()
    yield "no request", seven.write(struct.pack(">i", 4) + b"\x60\1\2\3")
    eight = s.login()
    yield "a SaslHandshake that no broker has", eight.ask_unknown_version("sasl_handshake", 9)


def mechanisms(s: SaslStage) -> Steps:
    """SaslHandshake."""
    one = s.login()
    yield "unknown", one.shake("no such")
    yield "then", one.shake("PLAIN")
    yield "not enabled", s.login().shake("GSSAPI")
    yield "in small letters", s.login().shake("plain")
    yield "unknown in v0", s.login().shake("no such", 0)
    two = s.login()
    yield "PLAIN", two.shake("PLAIN")
    yield "a second SaslHandshake", two.shake("PLAIN")
    three = s.login()
    yield "PLAIN", three.shake("PLAIN")
    yield "ApiVersions", three.ask("api_versions", client_software_name="c", client_software_version="1")
    four = s.login()
    yield "PLAIN", four.shake("PLAIN")
    yield "Metadata", four.ask("metadata", topics=[])
    five = s.login()
    yield "PLAIN", five.shake("PLAIN")
    yield "a SaslAuthenticate that no broker has", five.ask_unknown_version("sasl_authenticate", 9)
    six = s.login()
    yield "PLAIN", six.shake("PLAIN")
    yield "FindCoordinator", six.ask("find_coordinator", 4, coordinator_keys=["g", "h"])
    seven = s.login()
    yield "PLAIN", seven.shake("PLAIN")
    yield "FindCoordinator of one", seven.ask("find_coordinator", 3, key="g")


def plain_logins(s: SaslStage) -> Steps:
    """PLAIN."""
    one = s.login()
    yield "right", one.plain("alice", "secret")
    yield "Metadata", one.ask("metadata", topics=[])
    yield "SaslAuthenticate again", one.say(plain("alice", "secret"))
    yield "Metadata then", one.ask("metadata", topics=[])
    for version in (0, 1, 2):
        two = s.login()
        two.shake("PLAIN")
        yield f"v{version}", two.say(plain("alice", "secret"), version)
    for label, token in (
        ("wrong password", plain("alice", "wrong")),
        ("nobody", plain("nobody", "secret")),
        ("no user", plain("", "secret")),
        ("no password", plain("alice", "")),
        ("as another", plain("alice", "secret", "bob")),
        ("as another, wrong password", plain("alice", "wrong", "bob")),
        ("as itself", plain("alice", "secret", "alice")),
        ("nothing", b""),
        ("two parts", b"alice\0secret"),
        ("four parts", b"\0alice\0secret\0more"),
        ("not UTF-8", b"\0alice\0\xff"),
    ):
        three = s.login()
        three.shake("PLAIN")
        yield label, three.say(token)
    four = s.login()
    yield "wrong password", four.plain("alice", "wrong")
    yield "then", four.say(plain("alice", "secret"))


def raw_tokens(s: SaslStage) -> Steps:
    """After SaslHandshake v0 tokens come without headers."""
    one = s.login()
    yield "handshake", one.shake("PLAIN", 0)
    yield "right", one.raw(plain("alice", "secret"))
    yield "Metadata", one.ask("metadata", topics=[])
    two = s.login()
    yield "handshake", two.shake("PLAIN", 0)
    yield "wrong", two.raw(plain("alice", "wrong"))
    three = s.login()
    yield "handshake", three.shake("PLAIN", 0)
    yield "SaslAuthenticate", three.say(plain("alice", "secret"))
    four = s.login()
    yield "too large", four.write(struct.pack(">i", _TOO_LARGE) + b"\0" * 100)
    five = s.login()
    yield "handshake", five.shake("PLAIN")
    yield "too large", five.write(struct.pack(">i", _TOO_LARGE) + b"\0" * 100)


def scram_logins(s: SaslStage) -> Steps:
    """SCRAM-SHA-256 and -512."""
    s.set_scram("alice", "secret", SHA_256)
    s.set_scram("alice", "another secret", SHA_512)
    one = s.login()
    yield "SCRAM-SHA-256", one.scram(ScramClient("alice", "secret"), "SCRAM-SHA-256")
    yield "Metadata", one.ask("metadata", topics=[])
    two = s.login()
    yield "SCRAM-SHA-512", two.scram(ScramClient("alice", "another secret", "sha512"), "SCRAM-SHA-512")
    yield "Metadata", two.ask("metadata", topics=[])
    yield "wrong password", s.login().scram(ScramClient("alice", "wrong"), "SCRAM-SHA-256")
    yield "of the other", s.login().scram(ScramClient("alice", "another secret"), "SCRAM-SHA-256")
    yield "nobody", s.login().scram(ScramClient("nobody", "secret"), "SCRAM-SHA-256")
    three = s.login()
    three.shake("SCRAM-SHA-256")
    yield "another nonce", three.scram_steps(ScramClient("alice", "secret"), nonce="else")
    for label, token in (
        ("as another", b"n,a=bob,n=alice,r=abc"),
        ("bound to a channel", b"y,,n=alice,r=abc"),
        ("nothing", b""),
        ("no nonce", b"n,,n=alice,r="),
        ("PLAIN", plain("alice", "secret")),
    ):
        four = s.login()
        four.shake("SCRAM-SHA-256")
        yield label, four.say(token)
    five = s.login()
    five.shake("SCRAM-SHA-256")
    five.say(ScramClient("alice", "secret").first())
    yield "no final message", five.say(b"c=biws")


def oauth_logins(s: SaslStage) -> Steps:
    """OAUTHBEARER with unsecured tokens. How long a session lasts depends on the time that a login takes."""
    one = s.login()
    yield "handshake", one.shake("OAUTHBEARER")
    answer = one.say(s.token(sub="alice", exp=3600))
    lifetime_ms = answer["session_lifetime"]
    assert 3_590_000 < lifetime_ms <= 3_600_000, lifetime_ms
    yield "right", {**answer, "session_lifetime": "up to an hour"}
    yield "Metadata", one.ask("metadata", topics=[])
    for label, token in (
        ("expired", s.token(sub="alice", exp=-10)),
        ("no expiry", s.token(sub="alice")),
        ("expiry as text", s.token(sub="alice", exp="tomorrow")),
        ("no subject", s.token(exp=3600)),
        ("blank subject", s.token(sub=" ", exp=3600)),
        ("issued later", s.token(sub="alice", iat=1000, exp=3600)),
        ("signed", bearer(unsecured({"sub": "alice", "exp": 9e9}) + "abc")),
        ("with an algorithm", bearer(unsecured({"sub": "alice", "exp": 9e9}, alg="RS256"))),
        ("two parts", bearer("abc.def")),
        ("no JSON", bearer("abc.def.")),
        ("another scheme", b"n,,\1auth=Basic abc\1\1"),
        ("no auth", b"n,,\1other=abc\1\1"),
        ("nothing", b""),
        ("as another", bearer(unsecured({"sub": "alice", "exp": 9e9}), by="a=bob")),
    ):
        two = s.login()
        two.shake("OAUTHBEARER")
        yield label, two.say(token)
    three = s.login()
    three.shake("OAUTHBEARER")
    yield "expired", three.say(s.token(sub="alice", exp=-10))
    yield "as RFC 7628 has it", three.say(b"\1")
    yield "then", three.say(b"\1")


def again(s: SaslStage) -> Steps:
    """Re-authentication (KIP-368)."""
    one = s.login()
    yield "first", one.plain("alice", "secret")
    yield "handshake", one.shake("PLAIN")
    yield "Metadata in between", one.ask("metadata", topics=[])
    two = s.login()
    yield "first", two.plain("alice", "secret")
    yield "handshake", two.shake("PLAIN")
    yield "again", two.say(plain("alice", "secret"))
    yield "Metadata", two.ask("metadata", topics=[])
    yield "at once once more", two.shake("PLAIN")
    yield "SaslAuthenticate then", two.say(plain("alice", "secret"))
    three = s.login()
    yield "first", three.plain("alice", "secret")
    yield "handshake", three.shake("PLAIN")
    yield "as another", three.say(plain("bob", "other"))
    four = s.login()
    yield "first", four.plain("alice", "secret")
    yield "handshake", four.shake("PLAIN")
    yield "wrong password", four.say(plain("alice", "wrong"))
    five = s.login()
    yield "first", five.plain("alice", "secret")
    yield "another mechanism", five.shake("SCRAM-SHA-256")
    yield "its token", five.say(b"n,,n=alice,r=abc")
    six = s.login()
    yield "first", six.plain("alice", "secret")
    yield "unknown mechanism", six.shake("no such")
    seven = s.login()
    yield "first", seven.plain("alice", "secret")
    yield "ApiVersions", seven.ask("api_versions", client_software_name="c", client_software_version="1")
    yield "handshake v0", seven.shake("PLAIN", 0)
    yield "SaslAuthenticate", seven.say(plain("alice", "secret"))


def expired(s: SaslStage) -> Steps:
    """A session that is over ends with the next request, unless that logs in again."""
    one, two, three = s.login(), s.login(), s.login()
    yield "first", one.plain("alice", "secret")
    yield "first", two.plain("alice", "secret")
    three.shake("PLAIN")
    yield "in v0, which does not say how long it lasts", three.say(plain("alice", "secret"), 0)
    s.brokers.sleep(3.2)
    yield "Metadata", one.ask("metadata", topics=[])
    yield "handshake", two.shake("PLAIN")
    yield "again", two.say(plain("alice", "secret"))
    yield "Metadata", two.ask("metadata", topics=[])
    yield "Metadata after v0", three.ask("metadata", topics=[])


def without_an_end(s: SaslStage) -> Steps:
    """Where sessions don't end, nobody may log in again."""
    s.set_scram("carol", "secret", SHA_256)
    one = s.login()
    yield "first", one.scram(ScramClient("carol", "secret"), "SCRAM-SHA-256")
    yield "handshake", one.shake("SCRAM-SHA-256")
    yield "SaslAuthenticate", one.say(b"n,,n=carol,r=abc")
    yield "Metadata", one.ask("metadata", topics=[])


STORIES: Final = Told(
    Path(__file__).parent,
    named(
        before_a_login,
        mechanisms,
        plain_logins,
        raw_tokens,
        scram_logins,
        oauth_logins,
        again,
        expired,
        without_an_end,
    ),
    SaslStage,
    Setting(1, BROKER_CONFIG, sasl=True),
)
