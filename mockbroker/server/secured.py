"""What the listeners of a cluster with `Security` need: certificates, logins and settings for clients."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, get_args

from ..cluster.cluster import Cluster
from ..errors import ConflictError, OptionError
from ..protocol.api_error import ApiError
from ..sasl.client import Logins
from ..sasl.passwords import set_password
from ..security import SCRAM, CertificateKind, Security
from .handshakes import Handshakes
from .principals import NAME, PrincipalRules

if TYPE_CHECKING:
    import ssl

    from ..control.access import Access, Listener
    from .certificates import Authority, Files

_BEST: Final = (*reversed(SCRAM), "PLAIN", "OAUTHBEARER")


@dataclass
class Secured:
    """`context` is that of all listeners with TLS, `logins` of those with SASL."""

    security: Security
    logins: Logins
    files: "Files | None" = None
    context: "ssl.SSLContext | None" = None
    handshakes: Handshakes = field(default_factory=Handshakes)
    rules: PrincipalRules = field(default_factory=PrincipalRules)
    _authority: "Authority | None" = None
    _versions: list[str] | None = None
    _folder: "tempfile.TemporaryDirectory[str] | None" = None

    @classmethod
    def of(cls, security: Security, cluster: Cluster, hosts: Iterable[str]) -> "Secured":
        """Makes what is needed, and sets the passwords of users. OptionError, MissingExtraError."""
        found = cls(security, Logins(security.mechanisms, cluster.passwords))
        for user, password in security.users.items():
            try:
                set_password(cluster, user, password)
            except ApiError as error:
                raise OptionError(f"user {user!r} can't log in: {error.message}") from None
        for acl in security.entries():
            cluster.controller.create_acl(acl)
        if security.uses_tls:
            found._use_tls(cluster, hosts)
        return found

    def _use_tls(self, cluster: Cluster, hosts: Iterable[str]) -> None:
        from .certificates import Authority, Files

        self.rules = PrincipalRules.of(cluster.configs.static.get(NAME))
        security = self.security
        if security.certificate is not None:
            paths = (security.certificate, security.key, security.ca)
            certificate, key, ca = (None if each is None else Path(each) for each in paths)
            assert certificate is not None
            self.files = Files(certificate, key, ca)
        else:
            if security.folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="mockbroker-")
            self._authority = Authority(Path(security.folder or self._folder.name), hosts)  # type: ignore[union-attr]
            self.files = self._authority.files()
        chosen = cluster.configs.static.get("ssl.enabled.protocols")
        self._versions = chosen.split(",") if chosen else None
        self._show(self.files.certificate, self.files.key)

    def _show(self, certificate: Path, key: Path | None) -> None:
        from .tls import context

        ca = self.files.ca if self.files is not None else None
        try:
            self.context = context(
                str(certificate),
                None if key is None else str(key),
                None if ca is None else str(ca),
                self.security.client_auth,
                self._versions,
            )
        except OSError as error:
            named = ", ".join(str(each) for each in (certificate, key, ca) if each)
            raise OptionError(f"the certificate can't be used: {error} ({named})") from None

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

        best = sorted(self.logins.mechanisms, key=_BEST.index)
        given = Access(listeners, tuple(best), self.logins.users, show_certificate=self.show_certificate)
        if (files := self.files) is None:
            return given
        mine = self.security.client_auth != "none"
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

    def close(self) -> None:
        """Removes the files that are not kept."""
        if self._folder is not None:
            self._folder.cleanup()
