"""The files of a certificate authority that a cluster has for itself."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..extras import MissingExtraError

PASSWORD: Final = "mockbroker"
"""Of the PKCS #12 files; Java wants one."""
_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_OWNER: Final = "mockbroker"


@dataclass(frozen=True)
class Files:
    """What brokers and clients are given. `ca` are the authorities that clients have to trust, in PEM, and
    `truststore` the same as PKCS #12 for Java; `client` and `client_key` are the certificate of a client and
    its key, `keystore` both as PKCS #12. None for what there is not."""

    certificate: Path
    key: Path | None
    ca: Path | None
    truststore: Path | None = None
    client: Path | None = None
    client_key: Path | None = None
    keystore: Path | None = None


def made_in(folder: Path, hosts: Iterable[str]) -> Files:
    """Makes an authority, and a certificate for these hosts and this machine. MissingExtraError, OSError."""
    try:
        import trustme
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import (
            BestAvailableEncryption,
            load_pem_private_key,
            pkcs12,
        )
    except ImportError:
        raise MissingExtraError("certificates are made by trustme", "security") from None
    folder.mkdir(parents=True, exist_ok=True)
    ca = trustme.CA(organization_name=_OWNER, organization_unit_name="authority")
    names = list(dict.fromkeys((*_NAMES, *(each for each in hosts if _may_be_named(each)))))
    server = ca.issue_cert(
        *names, common_name="broker", organization_name=_OWNER, organization_unit_name="brokers"
    )
    client = ca.issue_cert(
        "client@localhost",
        common_name="client",
        organization_name=_OWNER,
        organization_unit_name="clients",
    )
    files = Files(
        folder / "broker.pem",
        folder / "broker.key",
        folder / "ca.pem",
        folder / "truststore.p12",
        folder / "client.pem",
        folder / "client.key",
        folder / "keystore.p12",
    )
    encryption = BestAvailableEncryption(PASSWORD.encode())
    authority = x509.load_pem_x509_certificate(ca.cert_pem.bytes())
    trusted = [pkcs12.PKCS12Certificate(authority, b"ca")]
    key: Any = load_pem_private_key(client.private_key_pem.bytes(), None)
    shown = x509.load_pem_x509_certificate(client.cert_chain_pems[0].bytes())
    for path, data in (
        (files.certificate, b"".join(each.bytes() for each in server.cert_chain_pems)),
        (files.ca, ca.cert_pem.bytes()),
        (files.truststore, pkcs12.serialize_java_truststore(trusted, encryption)),
        (files.client, b"".join(each.bytes() for each in client.cert_chain_pems)),
    ):
        assert path is not None
        path.write_bytes(data)
    for path, data in (
        (files.key, server.private_key_pem.bytes()),
        (files.client_key, client.private_key_pem.bytes()),
        (
            files.keystore,
            pkcs12.serialize_key_and_certificates(b"client", key, shown, [authority], encryption),
        ),
    ):
        assert path is not None
        path.touch(0o600)
        path.write_bytes(data)
    return files


def _may_be_named(host: str) -> bool:
    """Whether a certificate can be for it: any host but the addresses that stand for all of a machine."""
    try:
        return not ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return bool(host)
