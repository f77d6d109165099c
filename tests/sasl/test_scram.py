"""SCRAM's messages are those of RFC 7677, and proofs are checked."""

import base64
import hashlib
import hmac

import pytest

from mockbroker.metadata.records import UserScramCredentialRecord
from mockbroker.sasl.mechanism import InvalidLoginError, LoginFailedError
from mockbroker.sasl.scram import Scram

from ..driving.scram import ScramClient

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = f"n,,n=user,r={CLIENT_NONCE}".encode()
FINAL = f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()


def credential(user: str) -> UserScramCredentialRecord | None:
    if user not in ("user", "a,b=c"):
        return None
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return UserScramCredentialRecord(
        user, 1, SALT, stored, hmac.digest(salted, b"Server Key", "sha256"), 4096
    )


def a_server() -> Scram:
    return Scram("SCRAM-SHA-256", credential, lambda _: None, SERVER_NONCE)


def test_the_example_of_rfc_7677() -> None:
    server = a_server()
    expected = f"r={CLIENT_NONCE}{SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    assert server.evaluate(FIRST) == expected.encode()
    assert server.user is None
    assert server.evaluate(FINAL) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert server.user == "user"


def test_the_client_of_tests_says_the_same() -> None:
    client = ScramClient("user", "pencil", nonce=CLIENT_NONCE)
    assert client.first() == FIRST
    assert client.final(a_server().evaluate(FIRST)) == FINAL
    assert client.proves(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    assert not client.proves(b"v=AAAA")


def test_names_with_commas_and_equals_signs() -> None:
    server, client = a_server(), ScramClient("a=2Cb=3Dc", "pencil")
    server.evaluate(client.final(server.evaluate(client.first())))
    assert server.user == "a,b=c"


@pytest.mark.parametrize("at", range(0, len(FINAL), 7))
def test_every_other_final_message_is_refused(at: int) -> None:
    server = a_server()
    server.evaluate(FIRST)
    changed = bytearray(FINAL)
    changed[at] ^= 1
    with pytest.raises(InvalidLoginError):
        server.evaluate(bytes(changed))
    assert server.user is None


@pytest.mark.parametrize("first", [b"p=tls-unique,,n=user,r=a", b"n,,n=nobody,r=a", b"n,,r=a", b"\xff"])
def test_what_is_no_first_message(first: bytes) -> None:
    with pytest.raises((InvalidLoginError, LoginFailedError)):
        a_server().evaluate(first)
