"""Names in certificates, and what rules make of them, as real brokers have them.

`principals.json` has certificates, rules, and the principals of clients that showed these certificates at
listeners with these rules; null if they were not let in. Brokers of 3.9.2 and 4.4.0 on Java 17 agreed. They
let nobody in without a name.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import json
import socket
import ssl
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from mockbroker import MockCluster, Security
from mockbroker.server.distinguished import subject
from mockbroker.server.principals import NoRuleError, PrincipalRules

from ..driving.clients import address
from ..driving.real_clients import LIMIT_S
from .test_tls import asked

RECORDED: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "principals.json").read_text())
CERTIFICATES: Final = {name: base64.b64decode(each) for name, each in RECORDED["certificates"].items()}


def principal(certificate: bytes, rules: str | None) -> str | None:
    name = subject(certificate)
    try:
        return PrincipalRules.of(rules).name(name) if name else None
    except NoRuleError:
        return None


@pytest.mark.parametrize("name", CERTIFICATES)
def test_principals_are_those_of_real_brokers(name: str) -> None:
    found = {each: principal(CERTIFICATES[name], rules) for each, rules in RECORDED["rules"].items()}
    assert found == RECORDED["principals"][name]


@given(st.sampled_from(sorted(CERTIFICATES)), st.integers(0, 400), st.integers(0, 255))
def test_what_is_no_certificate(name: str, at: int, byte: int) -> None:
    data = bytearray(CERTIFICATES[name])
    data[min(at, len(data) - 1)] = byte
    for each in (bytes(data), bytes(data[:at])):
        with contextlib.suppress(ValueError):
            subject(each)
    with pytest.raises(ValueError, match="not a certificate"):
        subject(b"")


def issued(name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, ca: bool) -> bytes:
    """A certificate, signed by its own key."""
    day, now = datetime.timedelta(days=1), datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(issuer, name, key.public_key(), 1, now - day, now + day)
    made = made.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    return made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def test_nobody_is_let_in_without_a_name(tmp_path: Path) -> None:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=authority")
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    authority, nameless = tmp_path / "authority.pem", tmp_path / "nameless.pem"
    authority.write_bytes(issued(name, name, key, ca=True) + secret)
    nameless.write_bytes(issued(x509.Name([]), name, key, ca=False) + secret)
    security = Security(tls=True, certificate=authority, ca=authority, client_auth="required")
    with MockCluster(security=security, brokers=1) as cluster:
        context = ssl.create_default_context(cafile=authority)
        context.check_hostname = False
        context.load_cert_chain(authority)
        assert answers(cluster, context)
        context.load_cert_chain(nameless)
        with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
            assert answers(cluster, context)
        assert any("is empty" in each for each in cluster.hints())


def answers(cluster: MockCluster, context: ssl.SSLContext) -> int:
    with (
        socket.create_connection(address(cluster), LIMIT_S) as plain,
        context.wrap_socket(plain) as sock,
    ):
        return asked(sock)
