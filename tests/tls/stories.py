"""Handshakes that succeed and fail, and certificates that are replaced."""

import struct
from pathlib import Path
from typing import Any, Final

from mockbroker.rig.certificates import PASSWORD
from mockbroker.rig.setup import BROKER_CONFIG
from mockbroker.rig.stories import Setting, Steps, Told, named

from ..delegation_tokens.stories import TOKENS
from ..driving.scram import ScramClient
from .stage import ALERT, API_VERSIONS, DATA, HANDSHAKE, Hello, Tls, TlsStage, record, renegotiates

_LISTENERS: Final = {
    "TLS": "SSL",
    "REQUESTED": "SSL",
    "REQUIRED": "SSL",
    "OLD": "SSL",
    "ONLY_12": "SSL",
    "ONLY_13": "SSL",
    "NAMED": "SSL",
    "NOBODY": "SSL",
    "RENEWED": "SSL",
    "SECURE": "SASL_SSL",
    "MUTUAL": "SASL_SSL",
}
_SETTINGS: Final = {
    "requested.ssl.client.auth": "requested",
    "required.ssl.client.auth": "required",
    "old.ssl.enabled.protocols": "TLSv1,TLSv1.1,TLSv1.2",
    "only_12.ssl.enabled.protocols": "TLSv1.2",
    "only_13.ssl.enabled.protocols": "TLSv1.3",
    "named.ssl.client.auth": "requested",
    "named.ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/U,DEFAULT",
    "nobody.ssl.client.auth": "requested",
    "nobody.ssl.principal.mapping.rules": "RULE:^OU=(.*?),.*$/$1/",
    "mutual.ssl.client.auth": "required",
}
_CONFIG: Final = {
    **BROKER_CONFIG,
    **TOKENS,
    **{f"listener.name.{name}": value for name, value in _SETTINGS.items()},
}
_EACH: Final = ("1.0", "1.1", "1.2", "1.3")
_DYNAMIC: Final = 2
_SHOWN: Final = (None, "client", "client-of-another", "client-expired", "client-not-yet-valid")


def versions(s: TlsStage) -> Steps:
    """Which versions of TLS brokers take."""
    for listener in ("TLS", "OLD", "ONLY_12", "ONLY_13"):
        for each in _EACH:
            yield f"{listener}, {each}", s.seen(listener, Hello((each, each)))
        yield f"{listener}, all of them", s.seen(listener, Hello(("1.0", "1.3")))


def certificates(s: TlsStage) -> Steps:
    """What clients show, and whether they are let in."""
    for listener in ("TLS", "REQUESTED", "REQUIRED"):
        for version in ("1.2", "1.3"):
            for shown in _SHOWN:
                hello = Hello((version, version), shown)
                yield f"{listener}, {version}, {shown or 'nothing'}", s.seen(listener, hello)


def names(s: TlsStage) -> Steps:
    """Which principals clients have."""
    for listener in ("TLS", "REQUESTED", "REQUIRED", "NAMED", "NOBODY"):
        for shown in (None, "client"):
            for version in ("1.2", "1.3"):
                hello = Hello((version, version), shown)
                yield f"{listener}, {version}, {shown or 'nothing'}", s.named(listener, hello)


def plain_text(s: TlsStage) -> Steps:
    """What is no TLS at a listener with it, and TLS at one without."""
    for listener in ("TLS", "SECURE"):
        yield f"{listener}, ApiVersions", s.plain(listener).sends(API_VERSIONS)
        yield f"{listener}, HTTP", s.plain(listener).sends(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        yield f"{listener}, zeros", s.plain(listener).sends(bytes(100))
        yield f"{listener}, other bytes", s.plain(listener).sends(b"\xff" * 100)
        yield f"{listener}, a single byte", s.plain(listener).sends(b"\xff")
        yield f"{listener}, the end", s.plain(listener).finishes()
    yield "TLS where there is none", s.plain().sends(s.hello())
    yield "HTTP where there is none", s.plain().sends(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")


def half_done(s: TlsStage) -> Steps:
    """Handshakes that do not go on, or go on with something else."""
    hello = s.hello()
    half = hello[: len(hello) // 2]
    yield "half a hello", s.plain("TLS").sends(half)
    one = s.plain("TLS")
    one.sends(half)
    yield "the other half later", one.sends(hello[len(half) :])
    two = s.plain("TLS")
    two.sends(half)
    yield "half a hello, and the end", two.finishes()
    yield "a hello", s.plain("TLS").sends(hello)
    three = s.plain("TLS")
    three.sends(hello)
    yield "a hello, and the end", three.finishes()
    for label, data in (
        ("another hello", hello),
        ("an alert", record(ALERT, b"\2\x30")),
        ("a warning", record(ALERT, b"\1\x5a")),
        ("close_notify", record(ALERT, b"\1\0")),
        ("ApiVersions", API_VERSIONS),
        ("data", record(DATA, bytes(100))),
        ("a handshake that is none", record(HANDSHAKE, b"\xff\0\0\1\0")),
    ):
        four = s.plain("TLS")
        four.sends(hello)
        yield f"a hello, then {label}", four.sends(data)
    yield "an alert first", s.plain("TLS").sends(record(ALERT, b"\2\x30"))
    yield "data first", s.plain("TLS").sends(record(DATA, bytes(100)))
    yield "a handshake that is none", s.plain("TLS").sends(record(HANDSHAKE, b"\xff\0\0\1\0"))


def afterwards(s: TlsStage) -> Steps:
    """What may happen to a connection once the handshake is done."""
    for version in ("1.2", "1.3"):
        hello = Hello((version, version))

        def shaken(hello: Hello = hello) -> Tls:
            found = s.shake("TLS", hello)
            first = found.asks()
            assert first == "answered", f"{found.shaken}: {first}"
            return found

        yield f"{version}, close_notify", shaken().says_goodbye()
        yield f"{version}, data that nobody encrypted", shaken().sends_below(record(DATA, bytes(100)))
        yield f"{version}, plain text", shaken().sends_below(API_VERSIONS)
        yield f"{version}, an alert that nobody encrypted", shaken().sends_below(record(ALERT, b"\2\x30"))
        yield f"{version}, a frame of -1 bytes", shaken().sends(b"\xff" * 4)
        yield f"{version}, no request", shaken().sends(struct.pack(">i", 4) + b"\x60\1\2\3")
    yield "a new handshake", renegotiates(s.secure.address("TLS"), s.secure.certificates.pem("ca"))


def logins(s: TlsStage) -> Steps:
    """SASL_SSL: TLS first, then SASL; clients show a certificate only where that listener asks for one."""
    s.set_scram("alice", "secret", 1)
    s.set_scram("alice", "secret", 2)
    for listener, shown in (("SECURE", None), ("SECURE", "client"), ("MUTUAL", "client")):
        hello = Hello(shows=shown)
        label = f"{listener}, {shown or 'nothing'}"
        yield f"{label}, PLAIN", s.login_at(listener, hello).plain("alice", "secret")
        yield f"{label}, wrong", s.login_at(listener, hello).plain("alice", "wrong")
        yield f"{label}, before a login", s.login_at(listener, hello).ask("metadata", topics=[])
        yield f"{label}, principal", s.named(listener, hello, log_in=True)
    for mechanism, digest in (("SCRAM-SHA-256", "sha256"), ("SCRAM-SHA-512", "sha512")):
        scram = ScramClient("alice", "secret", digest)
        yield mechanism, s.login_at("SECURE").scram(scram, mechanism)
        wrong = ScramClient("alice", "wrong", digest)
        yield f"{mechanism}, wrong", s.login_at("SECURE").scram(wrong, mechanism)
    bearing = s.login_at("SECURE")
    bearing.shake("OAUTHBEARER")
    lifetime_ms = (answer := bearing.say(s.token(sub="alice", exp=3600)))["session_lifetime"]
    assert 3_590_000 < lifetime_ms <= 3_600_000, lifetime_ms
    yield "OAUTHBEARER", {**answer, "session_lifetime": "up to an hour"}
    expired = s.login_at("SECURE")
    expired.shake("OAUTHBEARER")
    yield "OAUTHBEARER, expired", expired.say(s.token(sub="alice", exp=-10))
    for shown in _SHOWN:
        for version in ("1.2", "1.3"):
            hello = Hello((version, version), shown)
            yield f"MUTUAL, {version}, {shown or 'nothing'}", s.seen("MUTUAL", hello)


def asked_of_all(s: TlsStage) -> Steps:
    """`ssl.client.auth` that is set for all listeners."""
    for listener in ("TLS", "REQUESTED", "SECURE", "MUTUAL"):
        for shown in (None, "client"):
            yield f"{listener}, {shown or 'nothing'}", s.seen(listener, Hello(shows=shown))


def idle(s: TlsStage) -> Steps:
    """`connections.max.idle.ms`, of which a client has twice as long here."""
    hello = s.hello()
    yield "nothing", s.plain("TLS").ends()
    for label, sent in (("half a hello", hello[: len(hello) // 2]), ("a hello", hello)):
        one = s.plain("TLS")
        one.sends(sent)
        yield label, one.ends()
    yield "a handshake", s.shake("TLS").hears()
    asks = s.shake("TLS")
    yield "ApiVersions", asks.asks()
    yield "and nothing more", asks.hears()
    yield "no login", s.shake("SECURE").hears()


def renewed(s: TlsStage) -> Steps:
    """The keystore of a listener is another one while brokers run (KIP-226)."""
    files = s.secure.certificates

    def store(name: str, listener: str = "RENEWED", **more: Any) -> Any:
        return s.alter(listener, **{"keystore_location": files.p12(name), **more})

    yield "at first", s.shows("RENEWED")
    yield "renewed", store("renewed")
    yield "then", s.shows_at_last("RENEWED", "renewed")
    yield "other listeners", s.shows("TLS")
    yield "with all that goes with it", store("broker", keystore_password=PASSWORD, keystore_type="PKCS12")
    yield "then", s.shows_at_last("RENEWED", "broker")
    yield "only validated", store("renewed", validate_only=True)
    yield "then", s.shows("RENEWED")
    yield "no such file", store("no-such")
    yield "validated, no such file", store("no-such", validate_only=True)
    yield "a wrong password", store("renewed", keystore_password="wrong")
    yield "another type", store("renewed", keystore_type="JKS")
    yield "no type", store("renewed", keystore_type="no such")
    yield "PEM as PKCS #12", s.alter("RENEWED", keystore_location=files.pem("renewed"))
    yield "PEM", s.alter("RENEWED", keystore_location=files.pem("renewed"), keystore_type="PEM")
    yield "a truststore", store("ca")
    yield "another name", store("another-name")
    yield "fewer hosts", store("fewer-hosts")
    for name in ("broker-of-another", "broker-expired", "broker-not-yet-valid"):
        yield name, store(name)
        yield "then", s.shows_at_last("RENEWED", name)
    yield "more hosts", store("more-hosts")
    yield "then", s.shows_at_last("RENEWED", "more-hosts")
    yield "fewer than before", store("broker")
    yield "deleted", s.alter("RENEWED", delete=True, keystore_location="")
    yield "then", s.shows("RENEWED")


def altered(s: TlsStage) -> Steps:
    """Other settings of TLS, while brokers run."""
    files = s.secure.certificates
    yield "without a listener", s.alter("", keystore_location=files.p12("renewed"))
    yield "no such listener", s.alter("NO_SUCH", keystore_location=files.p12("renewed"))
    yield "of a plain one", s.alter("PLAINTEXT", keystore_location=files.p12("renewed"))
    yield "for all brokers", s.alter("TLS", of_all=True, keystore_location=files.p12("renewed"))
    for listener, name, value in (
        ("REQUIRED", "client_auth", "none"),
        ("NAMED", "principal_mapping_rules", "DEFAULT"),
        ("TLS", "enabled_protocols", "TLSv1.2"),
        ("TLS", "no_such", "1"),
    ):
        given: dict[str, Any] = {name: value}
        yield f"{listener}, {name}", s.alter(listener, **given)
        yield f"{listener}, {name}, deleted", s.alter(listener, delete=True, **given)


def described(s: TlsStage) -> Steps:
    """What DescribeConfigs shows of them."""
    files = s.secure.certificates

    def altered_ones() -> bool:
        return any(each["config_source"] == _DYNAMIC for each in s.configs("RENEWED"))

    yield "before", s.configs("RENEWED")
    given: dict[str, Any] = {"keystore_location": files.p12("renewed"), "keystore_password": PASSWORD}
    yield "altered", s.alter("RENEWED", **given)
    s.brokers.until(altered_ones, "the configuration")
    yield "then", s.configs("RENEWED")
    yield "deleted", s.alter("RENEWED", delete=True, **given)
    s.brokers.until(lambda: not altered_ones(), "no configuration")


def truststores(s: TlsStage) -> Steps:
    """Whom a listener trusts changes while brokers run."""
    files = s.secure.certificates
    another = Hello(shows="client-of-another")
    yield "before", s.seen("REQUIRED", another)
    yield "another truststore", s.alter("REQUIRED", truststore_location=files.p12("another-ca"))
    s.until_seen("REQUIRED", another, "answered")
    yield "then", s.seen("REQUIRED", another)
    yield "and who was trusted", s.seen("REQUIRED", Hello(shows="client"))
    yield "no such truststore", s.alter("REQUIRED", truststore_location=files.p12("no-such"))
    yield "the old one", s.alter("REQUIRED", truststore_location=files.p12("ca"))
    s.until_seen("REQUIRED", Hello(shows="client"), "answered")
    yield "then", s.seen("REQUIRED", another)


def in_place(s: TlsStage) -> Steps:
    """The file of a keystore changes, and its name stays."""
    files = s.secure.certificates
    files.replace("broker", "renewed")
    yield "at first", s.shows("RENEWED")
    yield "told again", s.alter("RENEWED", keystore_location=files.p12("broker"))
    yield "then", s.shows_at_last("RENEWED", "renewed")
    yield "other listeners", s.shows_at_last("TLS", "renewed")
    yield "an old connection", s.shake("RENEWED").asks()


STORIES: Final = Told(
    Path(__file__).parent,
    named(
        versions,
        certificates,
        names,
        plain_text,
        half_done,
        afterwards,
        logins,
        asked_of_all,
        idle,
        renewed,
        described,
        truststores,
        altered,
        in_place,
    ),
    TlsStage,
    Setting(1, _CONFIG, listeners=_LISTENERS),
    {
        "asked_of_all": {"ssl.client.auth": "required"},
        "idle": {"connections.max.idle.ms": "2000"},
        # It leaves the file of a certificate changed.
        "in_place": {"num.network.threads": "3"},
    },
)
