"""How clients reach a proxy with TLS: its certificate, and the handshake."""

import contextlib
import socket
import ssl
import tempfile
from collections.abc import Iterable
from pathlib import Path

import trio

from ..errors import OptionError
from ..security import Security
from ..server.certificates import Authority, Files
from ..server.tls import context, explained
from .dialing import SECONDS
from .sides import TlsSide, TlsStream


class ListenerTls:
    """`files` are those for clients. OptionError, MissingExtraError."""

    def __init__(self, security: Security, hosts: Iterable[str]) -> None:
        self._kept = contextlib.ExitStack()
        certificate, key, ca = security.certificate, security.key, security.ca
        if certificate is None:
            folder = security.folder or self._kept.enter_context(
                tempfile.TemporaryDirectory(prefix="mockbroker-")
            )
            self.files = Authority(Path(folder), hosts).files()
        else:
            given = (None if each is None else Path(each) for each in (key, ca))
            self.files = Files(Path(certificate), *given)
        try:
            self._context = self._made(security.client_auth)
        except OSError as error:
            raise OptionError(f"the certificate can't be used: {error} ({self.files.certificate})") from None
        self.shows_client = security.client_auth != "none"
        """Whether clients show a certificate."""

    def _made(self, client_auth: str) -> ssl.SSLContext:
        files = self.files
        key, ca = (None if each is None else str(each) for each in (files.key, files.ca))
        return context(str(files.certificate), key, ca, client_auth)

    async def side(self, sock: socket.socket) -> TlsSide | None:
        """As `stream`."""
        stream = await self.stream(trio.SocketStream(trio.socket.from_stdlib_socket(sock)))
        return None if stream is None else TlsSide(stream)

    async def stream(self, plain: trio.SocketStream) -> TlsStream | None:
        """After the handshake; None if the client has left without a word. ConnectionError says what else was
        the matter with it."""
        stream = trio.SSLStream(plain, self._context, server_side=True, https_compatible=True)
        try:
            with trio.fail_after(SECONDS):
                await stream.do_handshake()
        except trio.TooSlowError:
            raise ConnectionError(f"no TLS handshake within {SECONDS} s") from None
        except trio.BrokenResourceError as error:
            why = error.__cause__
            if isinstance(why, ssl.SSLError) and not isinstance(why, ssl.SSLEOFError):
                raise ConnectionError(f"TLS failed: {explained(why)}") from None
            return None
        return stream

    def close(self) -> None:
        """Removes the files that are not kept."""
        self._kept.close()
