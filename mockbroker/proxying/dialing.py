"""Connections to the brokers of the cluster."""

import socket
import ssl
from pathlib import Path
from typing import Final

import trio

from ..errors import OptionError
from .options import Address
from .sides import PlainSide, Side, TlsSide, TlsStream

SECONDS: Final = 10
"""For a connection, with its handshake."""

Stream = trio.SocketStream | TlsStream


class Dial:
    """With `tls`, brokers are spoken to by TLS, and `ca` is the file of the authorities that are trusted, in
    PEM; by default those of this machine. OptionError."""

    def __init__(self, *, tls: bool, ca: Path | None) -> None:
        self._context = None
        if tls:
            try:
                self._context = ssl.create_default_context(cafile=None if ca is None else str(ca))
            except OSError as error:
                raise OptionError(f"upstream_ca can't be used: {error} ({ca})") from None

    async def stream(self, there: Address, host: str) -> Stream:
        """To the broker at `there`, whose certificate is for `host`. OSError."""
        plain = await trio.open_tcp_stream(*there)
        if self._context is None:
            return plain
        stream = trio.SSLStream(plain, self._context, server_hostname=host, https_compatible=True)
        try:
            await stream.do_handshake()
        except trio.BrokenResourceError as error:
            await trio.aclose_forcefully(stream)
            raise ConnectionError(_explained(error.__cause__)) from None
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return stream

    async def side(self, there: Address, host: str) -> Side:
        """As `stream`. Also OSError after SECONDS."""
        try:
            with trio.fail_after(SECONDS):
                stream = await self.stream(there, host)
        except trio.TooSlowError:
            raise ConnectionError(f"no connection within {SECONDS} s") from None
        if isinstance(stream, trio.SSLStream):
            return TlsSide(stream)
        return PlainSide(socket.socket(fileno=stream.socket.detach()))


def _explained(error: BaseException | None) -> str:
    """In words for people who configure a proxy."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message.rstrip(".")
        return f"its certificate is not valid: {why} (the authority's file is given by --upstream-ca)"
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).lower().replace("_", " ")
        return f"TLS failed: {reason} (does this listener have TLS?)"
    return f"it closed the connection in the TLS handshake: {error}"
