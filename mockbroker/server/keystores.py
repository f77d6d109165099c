"""Keystores and truststores that a configuration names, as brokers read and compare them
(`DefaultSslEngineFactory.java`, `SslFactory.CertificateEntries`)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from ..extras import MissingExtraError
from .distinguished import subject

MOST_BYTES: Final = 1_000_000
_JKS: Final = "JKS"
_PEM: Final = "PEM"
_PKCS12: Final = (_JKS, "PKCS12")
"""Java takes files of PKCS #12 under both names."""
_ALIAS_OF_PEM: Final = "kafka"
_ATTRIBUTE: Final = re.compile(r"(?:\\.|[^,\\])+")
_ESCAPE: Final = re.compile(r"\\(.)")
_KINDS: Final = {"DNSName": 2, "IPAddress": 7, "RFC822Name": 1, "UniformResourceIdentifier": 6}
"""As `X509Certificate.getSubjectAlternativeNames` numbers them."""


T = TypeVar("T")


class StoreError(Exception):
    """A store can't be used; the message is that of Java's exception, which calls truststores so, too."""


class Store(NamedTuple):
    """What a configuration says of one."""

    location: str
    password: str | None = None
    type: str = _JKS
    key_password: str | None = None


@dataclass(frozen=True)
class Shown:
    """A certificate that brokers show: `name` is its subject as `distinguished.subject` gives it, `hosts` the
    numbers and texts of other names, `pem` it and its key."""

    alias: str
    name: str
    hosts: Sequence[tuple[int, str]]
    pem: bytes = b""

    @classmethod
    def of(cls, alias: str, certificate: Any, pem: bytes = b"") -> "Shown":
        """From a certificate of `cryptography`."""
        x509 = _x509()
        from cryptography.hazmat.primitives.serialization import Encoding

        try:
            others = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            others = []
        hosts = [
            (_KINDS[kind], str(each.value)) for each in others if (kind := type(each).__name__) in _KINDS
        ]
        return cls(alias, subject(certificate.public_bytes(Encoding.DER)), hosts, pem)

    @classmethod
    def of_pem(cls, pem: bytes) -> "Shown":
        """Of a file in PEM, with a key or without. ValueError, MissingExtraError."""
        return cls.of(_ALIAS_OF_PEM, _x509().load_pem_x509_certificate(pem), pem)

    def check(self, after: "Shown") -> None:
        """Whether another one may take its place while brokers run. StoreError."""
        if after.name.lower() != self.name.lower():
            raise StoreError(_mismatch("DistinguishedName does not", "DN", self, after, _as_java_shows))
        if not set(self.hosts) <= set(after.hosts):
            raise StoreError(_mismatch("SubjectAltNames do not", "SAN", self, after, _hosts))


def keystore(store: Store) -> Shown:
    """StoreError, MissingExtraError."""
    pem = store.type.upper() == _PEM
    if pem and store.password is not None:
        raise StoreError(
            "org.apache.kafka.common.errors.InvalidConfigurationException: SSL key store password cannot be "
            "specified with PEM format, only key password may be specified"
        )
    read = Shown.of_pem if pem else lambda data: _of_pkcs12(data, store)
    return _loaded(store, read)


def truststore(store: Store) -> bytes:
    """The authorities, in PEM. StoreError, MissingExtraError."""
    if store.type.upper() == _PEM:
        return _loaded(store, lambda data: data)
    return _loaded(store, lambda data: _authorities(data, store))


def _loaded(store: Store, read: Callable[[bytes], T]) -> T:
    try:
        if not Path(store.location).is_file():
            # A pipe would be waited for.
            raise ValueError("there is no such file")
        with Path(store.location).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES or store.type.upper() not in (*_PKCS12, _PEM):
            raise ValueError("no broker here reads it")
        return read(data)
    except (OSError, ValueError, TypeError):
        what = f"Failed to load SSL keystore {store.location} of type {store.type}"
        raise StoreError(f"org.apache.kafka.common.KafkaException: {what}") from None


def _x509() -> Any:
    """MissingExtraError."""
    try:
        from cryptography import x509
    except ImportError:
        raise MissingExtraError("keystores are read by cryptography", "security") from None
    return x509


def _pkcs12(data: bytes, password: str | None) -> Any:
    _x509()
    from cryptography.hazmat.primitives.serialization import pkcs12

    return pkcs12.load_pkcs12(data, None if password is None else password.encode())


def _of_pkcs12(data: bytes, store: Store) -> Shown:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    found = _pkcs12(data, store.password)
    entry = found.cert or next(iter(found.additional_certs), None)
    if entry is None:
        raise ValueError("there is no certificate")
    pem = b""
    if found.key is not None:
        others = [each.certificate for each in found.additional_certs]
        chain = [each.public_bytes(Encoding.PEM) for each in (entry.certificate, *others)]
        pem = found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + b"".join(chain)
    return Shown.of((entry.friendly_name or b"1").decode().lower(), entry.certificate, pem)


def _authorities(data: bytes, store: Store) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    found = _pkcs12(data, store.password)
    entries = [*found.additional_certs, *([found.cert] if found.cert is not None else [])]
    return b"".join(each.certificate.public_bytes(Encoding.PEM) for each in entries)


def _mismatch(what: str, name: str, before: Shown, after: Shown, shown: Callable[[Shown], str]) -> str:
    sides = (
        f"{side}={{alias={each.alias}, {name}={shown(each)}}}"
        for side, each in (("existing", before), ("new", after))
    )
    return f"org.apache.kafka.common.config.ConfigException: Keystore {what} match:  {', '.join(sides)}"


def _as_java_shows(each: Shown) -> str:
    """`X500Principal.toString`: quotes in place of backslashes."""
    return ", ".join(map(_unescaped, _ATTRIBUTE.findall(each.name)))


def _unescaped(attribute: str) -> str:
    kind, _, value = attribute.partition("=")
    plain = _ESCAPE.sub(r"\1", value)
    return f'{kind}="{plain}"' if plain != value else attribute


def _hosts(each: Shown) -> str:
    return f"[{', '.join(f'[{kind}, {text}]' for kind, text in each.hosts)}]"
