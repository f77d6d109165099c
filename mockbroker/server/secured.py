"""What the listeners of a cluster with `Security` need: certificates, logins and settings for clients."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, get_args

from ..cluster.cluster import Cluster
from ..configs import Configs
from ..errors import ConflictError, OptionError
from ..protocol.api_error import ApiError
from ..protocol.releases import parse
from ..sasl.client import Logins
from ..sasl.passwords import set_password
from ..security import SCRAM, CertificateKind, Security
from .handshakes import Handshakes
from .principals import NAME as RULES
from .principals import PrincipalRules

if TYPE_CHECKING:
    import ssl

    from ..control.access import Access, Listener
    from .certificates import Authority, Files
    from .issuer import Issuer
    from .listener_files import ListenerFiles

_CLIENT_AUTH: Final = "ssl.client.auth"
_MUTUAL_SINCE: Final = parse("2.8")
"""Who logs in may also have to show a certificate (KIP-684)."""
_BEST: Final = (*reversed(SCRAM), "PLAIN", "OAUTHBEARER")


@dataclass
class Secured:
    """By listener: `logins` of those with SASL; of those with TLS, `contexts`, and `rules` that make
    principals of the names in certificates."""

    security: Security
    configs: Configs
    logins: dict[str, Logins] = field(default_factory=dict)
    files: "Files | None" = None
    contexts: "dict[str, ssl.SSLContext]" = field(default_factory=dict)
    handshakes: Handshakes = field(default_factory=Handshakes)
    rules: dict[str, PrincipalRules] = field(default_factory=dict)
    issuer: "Issuer | None" = None
    stores: "ListenerFiles | None" = None
    _shows: tuple[Path, Path | None] = (Path(), None)
    _authority: "Authority | None" = None
    _folder: "tempfile.TemporaryDirectory[str] | None" = None

    @classmethod
    def of(cls, security: Security, cluster: Cluster, hosts: Iterable[str]) -> "Secured":
        """Makes what is needed, and sets the passwords of users. OptionError, MissingExtraError."""
        found = cls(security, cluster.configs)
        try:
            found._prepare(cluster, hosts)
        except BaseException:
            found.close()
            raise
        return found

    def _prepare(self, cluster: Cluster, hosts: Iterable[str]) -> None:
        security = self.security
        if "OAUTHBEARER" in security.mechanisms:
            from .issuer import Issuer

            makes_key = security.signed_tokens and security.jwks is None
            self.issuer = Issuer(security, cluster, self._place() if makes_key else None)
        keys = None if self.issuer is None else self.issuer.keys
        for name, protocol in security.protocols.items():
            if protocol.startswith("SASL"):
                self.logins[name] = Logins(self._mechanisms(name), cluster.passwords, keys)
        for user, password in security.users.items():
            try:
                set_password(cluster, user, password)
            except ApiError as error:
                raise OptionError(f"user {user!r} can't log in: {error.message}") from None
        for acl in security.entries():
            cluster.controller.create_acl(acl)
        if security.uses_tls:
            self._use_tls(cluster, hosts)

    def _mechanisms(self, listener: str) -> tuple[str, ...]:
        """By which clients can log in there. OptionError."""
        known = self.security.mechanisms
        text = self.configs.listener_text("sasl.enabled.mechanisms", listener) or ""
        found = tuple(each.strip() for each in text.split(","))
        for each in found:
            if each not in known:
                why = f"config has the mechanism {each!r} for the listener {listener}"
                raise OptionError(f"{why}: add it to sasl of security, which has {', '.join(known)}")
        return found

    def _place(self) -> Path:
        """Where files are written."""
        if self.security.folder is not None:
            return Path(self.security.folder)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="mockbroker-")
        return Path(self._folder.name)

    def _use_tls(self, cluster: Cluster, hosts: Iterable[str]) -> None:
        from .certificates import Authority, Files

        for name in self._with_tls():
            self.rules[name] = PrincipalRules.of(self.configs.listener_text(RULES, name))
        security = self.security
        if security.certificate is not None:
            paths = (security.certificate, security.key, security.ca)
            certificate, key, ca = (None if each is None else Path(each) for each in paths)
            assert certificate is not None
            self.files = Files(certificate, key, ca)
        else:
            self._authority = Authority(self._place(), hosts)
            self.files = self._authority.files()
        self._show(self.files.certificate, self.files.key)
        self._use_stores(list(cluster.brokers))

    def _use_stores(self, brokers: Iterable[int]) -> None:
        """Those that the configuration of listeners names. OptionError."""
        from .keystores import StoreError
        from .listener_files import ListenerFiles

        self.stores = ListenerFiles(self.configs, self._with_tls(), self._default, self._context)
        self.configs.files = self.stores
        try:
            self.stores.begin(brokers)
        except StoreError as error:
            raise OptionError(f"config names a store that can't be used: {error}") from None

    def _default(self) -> tuple[bytes, bytes | None]:
        """In PEM, the brokers' certificate with its key, and the authorities that they trust."""
        assert self.files is not None
        pem = b"".join(each.read_bytes() for each in self._shows if each is not None)
        return pem, None if self.files.ca is None else self.files.ca.read_bytes()

    def _context(
        self, listener: str, certificate: str, ca: str | None, key: str | None = None
    ) -> "ssl.SSLContext":
        """OSError."""
        from .tls import context

        versions = self.configs.listener_text("ssl.enabled.protocols", listener)
        return context(
            certificate, key, ca, self._client_auth(listener), versions.split(",") if versions else None
        )

    def context(self, broker: int, listener: str) -> "ssl.SSLContext":
        """With what a broker meets a client of a listener with TLS."""
        own = None if self.stores is None else self.stores.context(broker, listener)
        return self.contexts[listener] if own is None else own

    def _with_tls(self) -> list[str]:
        return [name for name, protocol in self.security.protocols.items() if protocol.endswith("SSL")]

    def _show(self, certificate: Path, key: Path | None) -> None:
        ca = self.files.ca if self.files is not None else None
        try:
            for name in self._with_tls():
                paths = (None if each is None else str(each) for each in (ca, key))
                self.contexts[name] = self._context(name, str(certificate), *paths)
        except OSError as error:
            named = ", ".join(str(each) for each in (certificate, key, ca) if each)
            raise OptionError(f"the certificate can't be used: {error} ({named})") from None
        self._shows = certificate, key
        if self.stores is not None:
            self.stores.forget()

    def _client_auth(self, listener: str) -> str:
        """Whether clients have to show a certificate. OptionError if nothing could check it."""
        if self.security.protocols[listener] != "SASL_SSL":
            found = self.configs.listener_text(_CLIENT_AUTH, listener) or "none"
        elif self.configs.release >= _MUTUAL_SINCE:
            found = self.configs.listener_own_text(_CLIENT_AUTH, listener) or "none"
        else:
            found = "none"
        if found != "none" and self.security.certificate is not None and self.security.ca is None:
            raise OptionError("clients' certificates can't be checked: give ca, the authorities' file")
        return found

    def show_certificate(self, which: str, key: str | None = None) -> None:
        """What brokers show from now on to clients that connect: a `CertificateKind`, or a file in PEM, whose
        `key` may be in the same file. OptionError, ConflictError."""
        if self.files is None:
            raise ConflictError("no listener has TLS: start the cluster with tls=True")
        if which not in get_args(CertificateKind):
            self._show(Path(which), None if key is None else Path(key))
            return
        if self._authority is None:
            raise ConflictError("the cluster has certificates of your own: give the file of another one")
        self._show(*self._authority.broker(cast("CertificateKind", which)))

    def access(self, listeners: "tuple[Listener, ...]") -> "Access":
        """How clients reach the cluster and log in."""
        from ..control.access import Access
        from .certificates import PASSWORD

        best = {name: tuple(sorted(each.mechanisms, key=_BEST.index)) for name, each in self.logins.items()}
        users = next((each.users for each in self.logins.values()), {})
        given = Access(listeners, best, users, show_certificate=self.show_certificate)
        if self.issuer is not None:
            given = replace(
                given,
                signed=self.issuer.keys is not None,
                issue=self.issuer.issue,
                token_expires_in=self.security.token_expires_in,
            )
        if (files := self.files) is None:
            return given
        mine = any(self._client_auth(name) != "none" for name in self._with_tls())
        return replace(
            given,
            ca=files.ca,
            handshakes=lambda: self.handshakes,
            truststore=files.truststore,
            client=files.client if mine else None,
            client_key=files.client_key if mine else None,
            keystore=files.keystore if mine else None,
            password=PASSWORD,
        )

    @property
    def jwks(self) -> Path | None:
        """The file with the keys of signed tokens."""
        return None if self.issuer is None else self.issuer.file

    def close(self) -> None:
        """Removes the files that are not kept."""
        if self._folder is not None:
            self._folder.cleanup()
