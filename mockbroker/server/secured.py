"""What the listeners of a cluster with `Security` need: certificates, logins and settings for clients."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..cluster.cluster import Cluster
from ..controller.scram import HASHES, Upsertion
from ..errors import OptionError
from ..protocol.api_error import ApiError
from ..sasl.client import Logins
from ..sasl.scram import NUMBERS
from ..security import SCRAM, Security

if TYPE_CHECKING:
    import ssl

    from ..control.access import Access, Listener
    from .certificates import Files

_BEST: Final = (*reversed(SCRAM), "PLAIN", "OAUTHBEARER")
_ITERATIONS = 4096
_SALT_BYTES = 16


@dataclass
class Secured:
    """`context` is that of all listeners with TLS, `logins` of those with SASL."""

    security: Security
    logins: Logins
    files: "Files | None" = None
    context: "ssl.SSLContext | None" = None
    _folder: "tempfile.TemporaryDirectory[str] | None" = None

    @classmethod
    def of(cls, security: Security, cluster: Cluster, hosts: Iterable[str]) -> "Secured":
        """Makes what is needed, and sets the passwords of users. OptionError, MissingExtraError."""
        found = cls(security, Logins(security.mechanisms, dict(security.users)))
        _set_passwords(security, cluster)
        for acl in security.entries():
            cluster.controller.create_acl(acl)
        if security.uses_tls:
            found._use_tls(cluster, hosts)
        return found

    def _use_tls(self, cluster: Cluster, hosts: Iterable[str]) -> None:
        from .certificates import Files, made_in
        from .tls import context

        security = self.security
        if security.certificate is not None:
            paths = (security.certificate, security.key, security.ca)
            certificate, key, ca = (None if each is None else Path(each) for each in paths)
            assert certificate is not None
            self.files = Files(certificate, key, ca)
        else:
            if security.folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="mockbroker-")
            self.files = made_in(Path(security.folder or self._folder.name), hosts)  # type: ignore[union-attr]
        chosen = cluster.configs.static.get("ssl.enabled.protocols")
        files, versions = self.files, chosen.split(",") if chosen else None
        try:
            self.context = context(
                str(files.certificate),
                None if files.key is None else str(files.key),
                None if files.ca is None else str(files.ca),
                security.client_auth,
                versions,
            )
        except OSError as error:
            named = ", ".join(str(each) for each in (files.certificate, files.key, files.ca) if each)
            raise OptionError(f"the certificate can't be used: {error} ({named})") from None

    def access(self, listeners: "tuple[Listener, ...]") -> "Access":
        """How clients reach the cluster and log in."""
        from ..control.access import Access
        from .certificates import PASSWORD

        best = sorted(self.logins.mechanisms, key=_BEST.index)
        given = Access(listeners, tuple(best), self.security.users)
        if (files := self.files) is None:
            return given
        mine = self.security.client_auth != "none"
        return replace(
            given,
            ca=files.ca,
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


def _set_passwords(security: Security, cluster: Cluster) -> None:
    """Of users that log in by SCRAM, as AlterUserScramCredentials would."""
    import hashlib

    salts = cluster.environment.random("scram salts")
    for user, password in security.users.items():
        for mechanism in security.mechanisms:
            if mechanism not in NUMBERS:
                continue
            number, salt = NUMBERS[mechanism], salts.randbytes(_SALT_BYTES)
            salted = hashlib.pbkdf2_hmac(HASHES[number], password.encode(), salt, _ITERATIONS)
            try:
                cluster.controller.alter_scram_credential(Upsertion(user, number, _ITERATIONS, salt, salted))
            except ApiError as error:
                raise OptionError(f"user {user!r} can't log in by {mechanism}: {error.message}") from None
