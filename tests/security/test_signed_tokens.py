"""Clients log in with signed tokens, and are told when these are refused."""

import base64
import json
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from confluent_kafka import KafkaError, Producer

from mockbroker import ConflictError, MockCluster, OptionError, Security
from mockbroker.control import clients
from mockbroker.rig.client import Client
from mockbroker.rig.real_tools import Tools
from mockbroker.rig.sasl_listener import bearer
from mockbroker.sasl.jwks import MOST_BYTES, Keys
from mockbroker.security import TokenKind

from .. import needs
from ..clients.console import VERSION
from ..driving.processes import line_of, mockbroker_process, started
from ..driving.real_clients import LIMIT_S, a_producer
from ..sasl.signed import keys
from .test_clients import CLIENTS, SENT, TOPIC, principals

ISSUER, AUDIENCE = "https://issuer.test", "kafka"
SIGNED = Security(sasl="oauthbearer", signed_tokens=True, issuer=ISSUER, audience=AUDIENCE)
WHY = {
    "expired": "the token expired",
    "not-yet-valid": "the token will be valid in",
    "another-key": "the signature of the token is wrong",
    "unknown-key": "the JWKS has no key for the token",
    "another-issuer": "the issuer (iss) of the token is another one",
    "another-audience": "the audience (aud) of the token is another one",
    "unsigned": "the token has no signature",
}


def a_cluster(security: Security = SIGNED, **options: Any) -> MockCluster:
    return MockCluster(brokers=1, security=security, topics={TOPIC: 1}, trace=True, **options)


def given(cluster: MockCluster, token: str) -> dict[str, Any]:
    """Settings for a client that has no other token, and does not know when it expires."""
    settings = cluster.client_settings("confluent-kafka")
    return {**settings, "oauth_cb": lambda _: (token, time.time() + 3600)}


def told(settings: dict[str, Any]) -> KafkaError:
    """The error of a login that a client is told of."""
    errors: list[KafkaError] = []
    return refusal(errors, Producer({**settings, "error_cb": errors.append, "log_level": 0}))


def refusal(errors: list[KafkaError], producer: Any) -> KafkaError:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        producer.poll(0.1)
        if found := [each for each in errors if each.code() == KafkaError._AUTHENTICATION]:
            return found[0]
    raise AssertionError(f"the client was told nothing but {errors}")


def shown(cluster: MockCluster, token: str) -> str:
    return error_of_login(cluster.bootstrap_servers, token)


def error_of_login(servers: str, token: str) -> str:
    """The error of a login by a token, after what a client answers to a refusal."""
    host, _, port = servers.partition(":")
    with Client(host, int(port)) as client:
        client.call("sasl_handshake", 1, {"mechanism": "OAUTHBEARER"})
        answer = client.call("sasl_authenticate", 2, {"auth_bytes": bearer(token)})
        if answer["auth_bytes"]:
            answer = client.call("sasl_authenticate", 2, {"auth_bytes": b"\1"})
        return str(answer["error_code"])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_reads_and_writes(client: Any) -> None:
    with a_cluster() as cluster:
        assert CLIENTS[client](cluster.client_settings(client, user="alice")) == SENT
        assert principals(cluster) == {"User:alice"}


@pytest.mark.parametrize("client", CLIENTS)
def test_unsecured_tokens_are_given_too(client: Any) -> None:
    with a_cluster(Security(sasl="oauthbearer")) as cluster:
        assert CLIENTS[client](cluster.client_settings(client, user="alice")) == SENT
        assert principals(cluster) == {"User:alice"}


def test_a_client_is_told_that_a_token_is_refused() -> None:
    with a_cluster() as cluster:
        error = told(given(cluster, cluster.token("alice", kind="another-key")))
        assert '{"status":"invalid_token"}' in error.str()


@pytest.mark.parametrize("kind", WHY)
def test_the_trace_tells_why_a_token_is_refused(kind: Any) -> None:
    with a_cluster() as cluster:
        token = cluster.token("alice", kind=kind)
        assert shown(cluster, token) == "SASL_AUTHENTICATION_FAILED"
        assert WHY[kind] in cluster.trace.events("login")[0].row()["failure"]
        for each in token.split("."):
            assert not each or each not in str(cluster.trace)


def test_every_kind_is_tried() -> None:
    assert {"valid", *WHY} == set(get_args(TokenKind))


def test_a_client_is_told_that_its_token_has_expired() -> None:
    with a_cluster() as cluster:
        errors: list[KafkaError] = []
        settings = given(cluster, cluster.token("alice", expires_in=60))
        producer = a_producer(cluster, error_cb=errors.append, **settings)
        producer.produce(TOPIC, b"before")
        assert producer.flush(LIMIT_S) == 0
        cluster.clock.advance("120s")
        producer.produce(TOPIC, b"after")
        assert '{"status":"invalid_token"}' in refusal(errors, producer).str()
        assert [each.value for each in cluster.records(TOPIC)] == [b"before"]
        producer.purge()


def test_a_client_logs_in_again_before_its_token_expires() -> None:
    """By librdkafka, which asks for another when four fifths of the time are over that it is told of."""
    with a_cluster() as cluster:

        def oauth_cb(_: str) -> tuple[str, float]:
            return cluster.token("alice", expires_in=4), time.time() + 2

        problems: list[KafkaError] = []
        settings = {**cluster.client_settings("confluent-kafka"), "oauth_cb": oauth_cb}
        producer = a_producer(cluster, error_cb=problems.append, **settings)
        logins: list[Any] = []
        while len(set(logins)) == len(logins):
            producer.produce(TOPIC, b"x")
            assert producer.flush(LIMIT_S) == 0
            logins = [each.row()["connection"] for each in cluster.trace.events("login")]
        assert not problems


@pytest.mark.parametrize("now", ["2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z"])
def test_tokens_are_valid_for_brokers_and_clients_whatever_the_time_of_the_cluster(now: str) -> None:
    with a_cluster(now=now) as cluster:
        token = cluster.token("alice", expires_in=60)
        assert shown(cluster, token) == "NONE"
        claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        assert claims["iat"] <= time.time() + 1 < claims["exp"]
        expired = cluster.token("alice", kind="expired")
        assert shown(cluster, expired) == "SASL_AUTHENTICATION_FAILED"
        later = cluster.token("alice", kind="not-yet-valid")
        assert shown(cluster, later) == "SASL_AUTHENTICATION_FAILED"


def test_claims_as_one_likes(tmp_path: Path) -> None:
    security = Security(
        sasl="oauthbearer", signed_tokens=True, scope_claim="roles", sub_claim="email", folder=tmp_path
    )
    with a_cluster(security) as cluster:
        token = cluster.token("alice@example.com", scope="read", claims={"sub": None})
        assert shown(cluster, token) == "NONE"
        assert principals(cluster) == {"User:alice@example.com"}
        twice = cluster.token("bob", claims={"roles": ["a", "a"]})
        assert shown(cluster, twice) == "SASL_AUTHENTICATION_FAILED"
        last = cluster.trace.events("login")[-1].row()
        assert last["failure"] == "one of the token's scopes is empty, or there twice"
    text = (tmp_path / "jwks.json").read_text()
    assert len(Keys.of(text).keys) == 1
    assert '"d"' not in text


def test_keys_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(keys.jwks())
    security = Security(sasl="oauthbearer", signed_tokens=True, jwks=tmp_path / "mine.json")
    with a_cluster(security) as cluster:
        now_s = int(time.time())
        token = keys.token({"sub": "alice", "iat": now_s, "exp": now_s + 60}, "ec", "ES256")
        assert shown(cluster, token) == "NONE"
        assert principals(cluster) == {"User:alice"}
        with pytest.raises(ConflictError, match="sign tokens with a key of yours"):
            cluster.token("alice")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "can't be used"),
        ("", "no JWKS"),
        ("[]", "no JWKS"),
        ('{"keys": {}}', "its keys are no list"),
        ('{"keys": [{"kty": "unknown"}, 5]}', "no key that could be used"),
        (json.dumps({"keys": [keys.jwk("secret")] * 1001}), "1001 keys: give one with no more than 1000"),
        ("[" * 1_000_000, "no JWKS"),
        (" " * (MOST_BYTES + 1), "more than 1048576 bytes"),
    ],
    ids=str,
)
def test_files_of_no_use(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "mine.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(OptionError, match=said):
        a_cluster(Security(sasl="oauthbearer", signed_tokens=True, jwks=file)).start()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"signed_tokens": True}, "signed_tokens are for OAUTHBEARER: add it to sasl"),
        ({"sasl": "oauthbearer", "issuer": "me"}, "add signed_tokens=True"),
        ({"sasl": "oauthbearer", "sub_claim": "email"}, "add signed_tokens=True"),
        ({"sasl": "oauthbearer", "signed_tokens": "yes"}, "signed_tokens is 'yes': give True or False"),
        ({"sasl": "oauthbearer", "signed_tokens": True, "issuer": ""}, "issuer is '': give a text"),
        ({"sasl": "oauthbearer", "signed_tokens": True, "audience": ["a,b"]}, "without commas"),
        ({"sasl": "oauthbearer", "folder": "keys"}, "no files are written"),
    ],
)
def test_options_that_do_not_fit(wrong: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        Security(**wrong)


@pytest.mark.parametrize("given", ["no file", "a file"])
def test_the_extra_is_named_if_it_is_missing(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(keys.jwks())
    for name in ("joserfc", "joserfc.jwk"):
        monkeypatch.setitem(sys.modules, name, None)
    security = Security(sasl="oauthbearer", signed_tokens=True, jwks=file if given == "a file" else None)
    with pytest.raises(ImportError, match=r"joserfc.*\[security\]"):
        a_cluster(security).start()


def test_what_can_not_be_issued() -> None:
    with a_cluster(Security(sasl="oauthbearer", signed_tokens=True)) as cluster:
        with pytest.raises(ConflictError, match="brokers take tokens of any issuer"):
            cluster.token("alice", kind="another-issuer")
        with pytest.raises(ConflictError, match="brokers expect no audience"):
            cluster.token("alice", kind="another-audience")
        with pytest.raises(OptionError, match="no kind of token 'expried': did you mean 'expired'"):
            cluster.token("alice", kind="expried")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="ask for 'expired'"):
            cluster.token("alice", expires_in=0)
        with pytest.raises(OptionError, match="mockbroker ctl tokens issue"):
            cluster.client_settings("kafkajs")
    with a_cluster(Security(sasl="oauthbearer")) as cluster, pytest.raises(OptionError, match="unsecured"):
        cluster.token("alice", kind="another-key")
    with MockCluster(brokers=1) as plain, pytest.raises(ConflictError, match="start the cluster with sasl"):
        plain.token("alice")


def test_serve_names_the_keys_and_ctl_issues_tokens(tmp_path: Path) -> None:
    options = ("--sasl", "oauthbearer", "--signed-tokens", "--issuer", ISSUER, "--audience", AUDIENCE)
    places = ("--port", "0", "--brokers", "1", "--control", "0", "--tls-folder", str(tmp_path))
    with started("serve", *places, *options) as process:
        try:
            servers, url = line_of(process), line_of(process)
            told = [line_of(process), line_of(process)]
            assert f"keys of tokens (JWKS): {tmp_path / 'jwks.json'}" in told
            asked = ("ctl", "--url", url, "tokens", "issue", "alice", "--expires-in", "60", "email=a@b")
            token = mockbroker_process(*asked).stdout.strip()
            assert error_of_login(servers, token) == "NONE"
            wrong = mockbroker_process(*asked, "--kind", "another-issuer").stdout.strip()
            assert error_of_login(servers, wrong) == "SASL_AUTHENTICATION_FAILED"
        finally:
            process.terminate()


@pytest.mark.parametrize("control_token", [None, "secret"])
def test_librdkafka_asks_for_tokens_itself(control_token: str | None) -> None:
    with a_cluster(control=True, control_token=control_token) as cluster:
        settings = cluster.do(clients.settings, "confluent-kafka", user="alice")
        assert all(isinstance(each, str) for each in settings.values())
        assert CLIENTS["confluent-kafka"](settings) == SENT
        assert principals(cluster) == {"User:alice"}


@pytest.mark.parametrize(
    ("form", "user", "status", "error"),
    [
        ("grant_type=password", "alice:right", 400, "unsupported_grant_type"),
        ("grant_type=client_credentials", "alice:wrong", 401, "invalid_client"),
        ("grant_type=client_credentials", ":right", 401, "invalid_client"),
        ("grant_type=client_credentials&client_id=alice&client_secret=wrong", "", 401, "invalid_client"),
        ("x" * 20_000, "alice:right", 413, "invalid_request"),
        ("&" * 200, "alice:right", 400, "invalid_request"),
    ],
)
def test_who_is_given_no_token(form: str, user: str, status: int, error: str) -> None:
    with a_cluster(control=True, control_token="right") as cluster:
        asked = urllib.request.Request(f"{cluster.control_url}/oauth/token", form.encode())
        if user:
            asked.add_header("Authorization", f"Basic {base64.b64encode(user.encode()).decode()}")
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(asked, timeout=LIMIT_S)
        with caught.value as answer:
            assert (answer.code, json.load(answer)["error"]) == (status, error)


def test_tokens_that_clients_ask_for_last_as_long_as_is_said() -> None:
    security = replace(SIGNED, token_expires_in=30)
    with a_cluster(security, control=True) as cluster:
        form = b"grant_type=client_credentials&client_id=alice&client_secret=any"
        with urllib.request.urlopen(f"{cluster.control_url}/oauth/token", form, timeout=LIMIT_S) as answer:
            found = json.load(answer)
        assert found["expires_in"] == 30
        claims = json.loads(base64.urlsafe_b64decode(found["access_token"].split(".")[1] + "=="))
        assert 30 <= claims["exp"] - claims["iat"] <= 31
        assert shown(cluster, found["access_token"]) == "NONE"


@pytest.mark.needs(*needs.JAVA)
def test_java_asks_for_tokens_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_cluster(control=True) as cluster:
        settings = cluster.client_settings("java", user="alice")
        allowed = settings["sasl.oauthbearer.token.endpoint.url"]
        monkeypatch.setenv("JDK_JAVA_OPTIONS", f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={allowed}")
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (tmp_path / "client.properties").write_text(text)
        given = ("--topic", TOPIC, "--max-messages", "5", "--producer.config", "client.properties")
        main = "org.apache.kafka.tools.VerifiableProducer"
        servers = cluster.bootstrap_servers
        out, errors = Tools(VERSION).run(main, "--bootstrap-server", servers, *given, folder=tmp_path)
        assert '"acked":5' in out, out + errors
        assert principals(cluster) == {"User:alice"}
