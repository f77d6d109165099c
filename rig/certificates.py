"""Certificates of brokers and clients, good ones and others: PEM for Python, PKCS #12 for Java."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

PASSWORD: Final = "mockbroker"
"""Of every PKCS #12 file."""
HOSTS: Final = ("localhost", "127.0.0.1")
_DAY: Final = timedelta(days=1)
_DATES: Final = {"expired": (-2 * _DAY, -_DAY), "not-yet-valid": (_DAY, 2 * _DAY)}


class Certificates:
    """What two authorities issue, in `folder`: each certificate with its key as NAME.pem and NAME.p12. The
    authorities are `ca`, which brokers and clients trust, and `another-ca`, which nobody does."""

    def __init__(self, folder: Path) -> None:
        import trustme

        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._authorities = {
            name: trustme.CA(organization_name="mockbroker", organization_unit_name=name)
            for name in ("ca", "another-ca")
        }
        for name, authority in self._authorities.items():
            authority.cert_pem.write_to_path(folder / f"{name}.pem")
            self._trusting(name, authority.cert_pem.bytes())
        self._names: dict[bytes, str] = {}
        self.issue("broker", *HOSTS)
        self.issue("client", "client@localhost")
        self.issue("client-of-another", "client@localhost", common_name="client", by="another-ca")
        self.issue("renewed", *HOSTS, common_name="broker")
        self.issue("broker-of-another", *HOSTS, common_name="broker", by="another-ca")
        self.issue("broker-expired", *HOSTS, common_name="broker", kind="expired")
        self.issue("broker-not-yet-valid", *HOSTS, common_name="broker", kind="not-yet-valid")
        self.issue("another-name", *HOSTS)
        self.issue("fewer-hosts", HOSTS[0], common_name="broker")
        self.issue("more-hosts", *HOSTS, "more.test", common_name="broker")
        for kind in _DATES:
            self.issue(f"client-{kind}", "client@localhost", common_name="client", kind=kind)

    def pem(self, name: str) -> str:
        return str(self.folder / f"{name}.pem")

    def p12(self, name: str) -> str:
        return str(self.folder / f"{name}.p12")

    def replace(self, name: str, by: str) -> None:
        """The files of a certificate are those of another from now on."""
        for path in (self.pem, self.p12):
            Path(path(name)).write_bytes(Path(path(by)).read_bytes())

    def name_of(self, certificate: bytes) -> str:
        """Of one of them, in DER."""
        return self._names[certificate]

    def issue(
        self, name: str, *subjects: str, common_name: str | None = None, by: str = "ca", kind: str = "valid"
    ) -> None:
        """A certificate for hosts or addresses of mail; `kind` is "valid", "expired" or "not-yet-valid"."""
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key, pkcs12

        begins, ends = (datetime.now(UTC) + each if each else None for each in _DATES.get(kind, (None, None)))
        authority = self._authorities[by]
        made = authority.issue_cert(
            *subjects,
            common_name=name if common_name is None else common_name,
            organization_name="mockbroker",
            organization_unit_name="tests",
            not_before=begins,
            not_after=ends,
        )
        made.private_key_and_cert_chain_pem.write_to_path(self.pem(name))
        key: Any = load_pem_private_key(made.private_key_pem.bytes(), None)
        shown = x509.load_pem_x509_certificate(made.cert_chain_pems[0].bytes())
        signed_by = [x509.load_pem_x509_certificate(authority.cert_pem.bytes())]
        self._names[shown.public_bytes(Encoding.DER)] = name
        data = pkcs12.serialize_key_and_certificates(name.encode(), key, shown, signed_by, _encryption())
        Path(self.p12(name)).write_bytes(data)

    def _trusting(self, name: str, pem: bytes) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import pkcs12

        trusted = [pkcs12.PKCS12Certificate(x509.load_pem_x509_certificate(pem), name.encode())]
        Path(self.p12(name)).write_bytes(pkcs12.serialize_java_truststore(trusted, _encryption()))

    def properties(self, listener: str) -> dict[str, str]:
        """What a real broker is configured with for one listener."""
        found = {
            "keystore.location": self.p12("broker"),
            "keystore.password": PASSWORD,
            "keystore.type": "PKCS12",
            "truststore.location": self.p12("ca"),
            "truststore.password": PASSWORD,
            "truststore.type": "PKCS12",
        }
        return {f"listener.name.{listener.lower()}.ssl.{name}": value for name, value in found.items()}


def _encryption() -> Any:
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption

    return BestAvailableEncryption(PASSWORD.encode())
