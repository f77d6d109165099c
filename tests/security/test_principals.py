"""The names in clients' certificates become principals (`SslPrincipalMapper.java`, and Kafka's documentation
of `ssl.principal.mapping.rules`)."""

from __future__ import annotations

import socket
import ssl

import pytest

from mockbroker import MockCluster, OptionError, Security
from mockbroker.server.principals import NAME, NoRuleError, PrincipalRules

from ..driving.clients import address
from ..driving.real_clients import LIMIT_S, a_producer
from .test_tls import asked

DOCUMENTED = (
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/, "
    "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L, "
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L, DEFAULT"
)
CASES = [
    (None, "CN=a,OU=b", "CN=a,OU=b"),
    ("DEFAULT", "CN=a,OU=b", "CN=a,OU=b"),
    (DOCUMENTED, "CN=serviceuser,OU=ServiceUsers,O=o,L=l,ST=s,C=c", "serviceuser"),
    (DOCUMENTED, "CN=adminUser,OU=Admin,O=o,L=l,ST=s,C=c", "adminuser@admin"),
    (DOCUMENTED, "OU=x,cn=Some.One,O=o", "some.one"),
    (DOCUMENTED, "OU=x,O=o", "OU=x,O=o"),
    (" , DEFAULT ,, ", "CN=a", "CN=a"),
    ("RULE:CN=(.*)/$1/U", "CN=Straße", "STRASSE"),
    ("RULE:CN=(.*),OU=(.*)/$1 at $12/", "CN=a,OU=b", "a at a2"),
    ("RULE:CN=(.*),OU=(.*)/$2@$3/", "CN=a,OU=b", "b@$3"),
    (r"RULE:CN=a\/b/c\/d/", "CN=a/b", "c/d"),
    ("RULE:.*/x/", "CN=a", "xx"),
    ("RULE:CN=(.*?)/<$1>/", "CN=abc", "<>abc"),
    ("RULE:(CN=)?(.*)/$1$2/", "abc", "abc"),
]


@pytest.mark.parametrize(("rules", "name", "becomes"), CASES)
def test_a_name_becomes(rules: str | None, name: str, becomes: str) -> None:
    assert PrincipalRules.of(rules).name(name) == becomes


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("RULE:CN=(.*)/$1/", "none of its rules is for that name"),
        ("RULE:OU=.*/$1/", "there is no group 1"),
        ("RULE:OU=.*/$x/", "can't be filled in"),
        ("", "none of its rules is for that name"),
    ],
)
def test_a_name_that_becomes_none(rules: str, why: str) -> None:
    with pytest.raises(NoRuleError, match=why):
        PrincipalRules.of(rules).name("OU=b")


@pytest.mark.parametrize(
    ("rules", "unmatched"),
    [
        ("foo", "Invalid rule: `foo`, unmatched substring: `foo`"),
        ("RULE:a/b/Lower", "Invalid rule: `RULE:a/b/Lower`, unmatched substring: `ower`"),
        ("RULE:(a/b/", "missing closing"),
    ],
)
def test_rules_that_are_none(rules: str, unmatched: str) -> None:
    security = Security(tls=True, client_auth="required")
    with pytest.raises(OptionError) as refused, MockCluster(security=security, config={NAME: rules}):
        pass
    assert unmatched in str(refused.value)


def test_a_certificate_gives_an_application_its_name() -> None:
    acls = ["client allow write,create on topic:t"]
    security = Security(tls=True, client_auth="required", acls=acls)
    config = {NAME: "RULE:^CN=(.*?),.*$/$1/"}
    with MockCluster(brokers=1, security=security, config=config, topics={"t": 1}, trace=True) as cluster:
        producer = a_producer(cluster, **cluster.client_settings("confluent-kafka"))
        producer.produce("t", b"1")
        assert producer.flush(LIMIT_S) == 0
        assert {each.row()["principal"] for each in cluster.trace.events("login")} == {"User:client"}


def test_who_has_a_name_without_a_rule_is_not_served() -> None:
    security = Security(tls=True, client_auth="required")
    with MockCluster(brokers=1, security=security, config={NAME: "RULE:OU=(.*)/$1/"}) as cluster:
        given = cluster.client_settings("confluent-kafka")
        context = ssl.create_default_context(cafile=given["ssl.ca.location"])
        context.load_cert_chain(given["ssl.certificate.location"], given["ssl.key.location"])
        with (
            socket.create_connection(address(cluster), LIMIT_S) as raw,
            context.wrap_socket(raw, server_hostname="localhost") as sock,
            pytest.raises((ssl.SSLError, ConnectionError, AssertionError)),
        ):
            assert asked(sock) > 0
        assert f"becomes no principal: none of its rules is for that name ({NAME})" in str(cluster.hints())
