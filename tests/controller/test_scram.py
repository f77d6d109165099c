"""SCRAM credentials are kept as servers need them."""

import base64
import hashlib
import hmac

from mockbroker.controller.scram import Deletion, Upsertion

from ..driving.cluster import configured

SHA_256 = 1
# The exchange in RFC 7677, section 3.
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
EXCHANGE = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={NONCE}"
PROOF = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
SIGNATURE = base64.b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_a_client_could_log_in_with_them() -> None:
    cluster = configured("4.4", 1, None, {})
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    cluster.controller.alter_scram_credential(Upsertion("user", SHA_256, 4096, SALT, salted))
    kept = cluster.controller.image.scram_credentials["user"][SHA_256]
    proves = hmac.digest(kept.stored_key, EXCHANGE.encode(), "sha256")
    client_key = bytes(a ^ b for a, b in zip(PROOF, proves, strict=True))
    assert hashlib.sha256(client_key).digest() == kept.stored_key
    assert hmac.digest(kept.server_key, EXCHANGE.encode(), "sha256") == SIGNATURE


def test_a_broker_learns_of_them_late() -> None:
    cluster = configured("4.4", 2, None, {})
    cluster.slow_metadata(2, 1000)
    one, late = cluster.brokers[1], cluster.brokers[2]
    upsertion = Upsertion("user", SHA_256, 4096, b"salt", b"salted")
    cluster.controller.alter_scram_credential(upsertion)
    assert "user" in one.image.scram_credentials
    assert "user" not in late.image.scram_credentials
    cluster.advance(cluster.now_ms + 1000)
    assert "user" in late.image.scram_credentials
    cluster.controller.alter_scram_credential(Deletion("user", SHA_256))
    assert "user" not in one.image.scram_credentials
    assert "user" in late.image.scram_credentials
