"""The files of a certificate authority that a cluster has for itself."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from ..extras import MissingExtraError
from ..security import CertificateKind

PASSWORD: Final = "mockbroker"
"""Of the PKCS #12 files; Java wants one."""
_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_ANOTHER_HOST: Final = "another.host.invalid"
_OWNER: Final = "mockbroker"
_DAY: Final = timedelta(days=1)


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


class Authority:
    """An authority of this cluster alone, whose files are in `folder`. Its certificates for brokers are for
    `hosts` and this machine. MissingExtraError, OSError."""

    def __init__(self, folder: Path, hosts: Iterable[str]) -> None:
        try:
            import trustme
        except ImportError:
            raise MissingExtraError("certificates are made by trustme", "security") from None
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._hosts = list(dict.fromkeys((*_NAMES, *(each for each in hosts if _may_be_named(each)))))
        self._ca = trustme.CA(organization_name=_OWNER, organization_unit_name="authority")

    def broker(self, kind: CertificateKind = "valid") -> tuple[Path, Path]:
        """A certificate for brokers and its key."""
        import trustme

        now = datetime.now(UTC)
        dates: dict[CertificateKind, tuple[datetime | None, datetime | None]] = {
            "expired": (now - 2 * _DAY, now - _DAY),
            "not-yet-valid": (now + _DAY, now + 2 * _DAY),
        }
        begins, ends = dates.get(kind, (None, None))
        ca = trustme.CA(organization_name="another") if kind == "another-authority" else self._ca
        found = ca.issue_cert(
            *([_ANOTHER_HOST] if kind == "another-host" else self._hosts),
            common_name="broker",
            organization_name=_OWNER,
            organization_unit_name="brokers",
            not_before=begins,
            not_after=ends,
        )
        name = "broker" if kind == "valid" else f"broker-{kind}"
        paths = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        paths[0].write_bytes(b"".join(each.bytes() for each in found.cert_chain_pems))
        _write_secret(paths[1], found.private_key_pem.bytes())
        return paths

    def files(self) -> Files:
        """Writes what brokers and clients need."""
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import (
            BestAvailableEncryption,
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
            pkcs12,
        )

        client = self._ca.issue_cert(
            "client@localhost",
            common_name="client",
            organization_name=_OWNER,
            organization_unit_name="clients",
        )
        names = ("ca.pem", "truststore.p12", "client.pem", "client.key", "keystore.p12")
        ca_path, truststore, client_path, client_key, keystore = (self._folder / each for each in names)
        encryption = BestAvailableEncryption(PASSWORD.encode())
        authority = x509.load_pem_x509_certificate(self._ca.cert_pem.bytes())
        trusted = [pkcs12.PKCS12Certificate(authority, b"ca")]
        key: Any = load_pem_private_key(client.private_key_pem.bytes(), None)
        shown = x509.load_pem_x509_certificate(client.cert_chain_pems[0].bytes())
        ca_path.write_bytes(self._ca.cert_pem.bytes())
        truststore.write_bytes(pkcs12.serialize_java_truststore(trusted, encryption))
        client_path.write_bytes(b"".join(each.bytes() for each in client.cert_chain_pems))
        # Java reads no other format of keys in PEM.
        _write_secret(client_key, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        both = pkcs12.serialize_key_and_certificates(b"client", key, shown, [authority], encryption)
        _write_secret(keystore, both)
        return Files(*self.broker(), ca_path, truststore, client_path, client_key, keystore)


def _write_secret(path: Path, data: bytes) -> None:
    """Where nobody else may read it."""
    path.touch(0o600)
    path.write_bytes(data)


def _may_be_named(host: str) -> bool:
    """Whether a certificate can be for it: any host but the addresses that stand for all of a machine."""
    try:
        return not ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return bool(host)
