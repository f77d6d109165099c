"""Whatever a client sends before it has logged in, it is served nothing."""

import struct
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.faults import Faults
from mockbroker.rig.client import encode, flexible
from mockbroker.rig.sasl_listener import bearer, unsecured
from mockbroker.sasl.client import Logins
from mockbroker.sasl.jwks import Keys
from mockbroker.server.sasl_connection import SaslConnection

from ..driving.cluster import a_cluster
from ..driving.connections import Heard, written
from ..properties import examples
from .signed import keys
from .stage import plain

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "OAUTHBEARER")
KEYS = (None, Keys.of(keys.jwks()))
"""Tokens are unsecured, or signed."""
NAMES = {
    "sasl_handshake": 17,
    "sasl_authenticate": 36,
    "api_versions": 18,
    "metadata": 3,
    "create_topics": 19,
}
NEVER_A_LOGIN = (
    plain("alice", "wrong"),
    plain("bob", "secret"),
    plain("alice", "secret", "bob"),
    b"n,,n=alice,r=abc",
    b"c=biws,r=abc,p=AAAA",
    bearer(unsecured({"sub": "alice", "exp": 1})),
    bearer(keys.token({"sub": "alice", "iat": 1, "exp": 9e9}, signed=b"x")),
    bearer(keys.token({"sub": "alice", "iat": 1, "exp": 1})),
    b"\1",
    b"",
)
TOPIC = {"topics": [{"name": "t", "num_partitions": 1, "replication_factor": 1}], "timeout": 1000}


def frame(api: str, version: int, fields: dict[str, object]) -> bytes:
    start = struct.pack(">hhih", NAMES[api], version, 1, -1) + b"\0" * flexible(api, version)
    return start + encode(api, version, fields)


tokens = st.sampled_from(NEVER_A_LOGIN) | st.binary(max_size=40)
frames = st.one_of(
    st.builds(
        lambda mechanism, version: frame("sasl_handshake", version, {"mechanism": mechanism}),
        st.sampled_from([*MECHANISMS, "GSSAPI", ""]),
        st.integers(0, 1),
    ),
    st.builds(
        lambda token, version: frame("sasl_authenticate", version, {"auth_bytes": token}),
        tokens,
        st.integers(0, 2),
    ),
    st.builds(
        lambda name: frame("api_versions", 3, {"client_software_name": name, "client_software_version": "1"}),
        st.sampled_from(["client", ""]),
    ),
    st.builds(lambda: frame("metadata", 8, {"topics": None, "allow_auto_topic_creation": True})),
    st.builds(lambda: frame("create_topics", 4, TOPIC)),
    tokens,
)


FAULTS: Final[tuple[dict[str, object], ...]] = (
    {"do": "replace", "api": "SaslAuthenticate", "field": "error_code", "value": 0},
    {"do": "replace", "api": "SaslAuthenticate", "field": "session_lifetime_ms", "value": 60_000},
    {"do": "replace", "api": "SaslHandshake", "field": "error_code", "value": 0},
    {"do": "error", "api": "SaslHandshake", "error": "UNSUPPORTED_SASL_MECHANISM", "when": "after"},
    {"do": "error", "api": "SaslHandshake", "error": "UNSUPPORTED_SASL_MECHANISM", "nth": 1},
    {"do": "error", "api": "SaslAuthenticate", "error": "SASL_AUTHENTICATION_FAILED"},
)


begun = st.sampled_from(MECHANISMS).map(lambda each: [frame("sasl_handshake", 1, {"mechanism": each})])
tried = tokens.map(lambda token: [frame("sasl_authenticate", 2, {"auth_bytes": token})])
rest = st.lists(frames, max_size=8)
logins = st.builds(lambda first, second, others: [*first, *second, *others], begun, tried, rest)


@given(
    rest | logins, st.integers(1, 64), st.lists(st.sampled_from(FAULTS), max_size=3), st.sampled_from(KEYS)
)
@settings(max_examples=examples(400), deadline=None)
def test_nothing_is_served_before_a_login(
    sent: list[bytes], part: int, wrong: list[dict[str, object]], known: Keys | None
) -> None:
    cluster, heard = a_cluster(brokers=1), Heard()
    faults = Faults(cluster)
    for each in wrong:
        faults.add(**each)  # type: ignore[arg-type]
    connection = SaslConnection(
        *(cluster, cluster.brokers[1], "client", "/127.0.0.1", heard, lambda _: None, faults),
        logins=Logins(MECHANISMS, {"alice": "secret"}, keys=known),
    )
    data = b"".join(struct.pack(">i", len(each)) + each for each in sent)
    for at in range(0, len(data), part):
        if connection.wants_close:
            break
        connection.receive(memoryview(data[at : at + part]))
        cluster.advance(cluster.now_ms + 200)
    assert not heard.errors
    assert not connection.login.logged_in
    assert connection.client.principal == "User:ANONYMOUS"
    assert not cluster.topics, "a topic was created"
    assert b"127.0.0.1" not in written(connection), "Metadata was answered"


def test_the_same_requests_are_served_after_a_login() -> None:
    cluster, heard = a_cluster(brokers=1), Heard()
    connection = SaslConnection(
        *(cluster, cluster.brokers[1], "client", "/127.0.0.1", heard, lambda _: None),
        logins=Logins(MECHANISMS, {"alice": "secret"}),
    )
    for each in (
        frame("sasl_handshake", 1, {"mechanism": "PLAIN"}),
        frame("sasl_authenticate", 2, {"auth_bytes": plain("alice", "secret")}),
        frame("create_topics", 4, TOPIC),
        frame("metadata", 8, {"topics": None}),
    ):
        connection.receive(memoryview(struct.pack(">i", len(each)) + each))
    assert connection.client.principal == "User:alice"
    assert list(cluster.topics) == ["t"]
    assert b"127.0.0.1" in written(connection)
