"""Connections to the brokers of the cluster."""

import ssl
from typing import Final

import trio

from ..errors import OptionError
from .options import Address, UpstreamTls
from .sides import TlsStream

SECONDS: Final = 10
"""For a connection, with its handshake."""

Stream = trio.SocketStream | TlsStream


class Dial:
    """By TLS, if there is an `UpstreamTls`. OptionError."""

    def __init__(self, tls: UpstreamTls | None) -> None:
        self._context = None if tls is None else _context(tls)

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
            raise ConnectionError(explained(error.__cause__)) from None
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return stream

    async def stream_in_time(self, there: Address, host: str) -> Stream:
        """As `stream`. Also OSError after SECONDS."""
        try:
            with trio.fail_after(SECONDS):
                return await self.stream(there, host)
        except trio.TooSlowError:
            raise ConnectionError(f"no connection within {SECONDS} s") from None


def _context(tls: UpstreamTls) -> ssl.SSLContext:
    ca, certificate, key = (None if each is None else str(each) for each in tls)
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise OptionError(f"upstream_ca can't be used: {error} ({ca})") from None
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key)
        except OSError as error:
            named = ", ".join(filter(None, (certificate, key)))
            raise OptionError(f"upstream_certificate can't be used: {error} ({named})") from None
    return context


def explained(error: BaseException | None) -> str:
    """In words for people who configure a proxy."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message.rstrip(".")
        return f"its certificate is not valid: {why} (the authority's file is given by --upstream-ca)"
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).lower().replace("_", " ")
        if "certificate" in reason:
            return f"TLS failed: {reason} (what it is shown is given by --upstream-certificate)"
        return f"TLS failed: {reason} (does this listener have TLS?)"
    return f"it closed the connection in the TLS handshake: {error}"
