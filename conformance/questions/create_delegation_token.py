"""CreateDelegationToken, and the requests about tokens that there are, of brokers that any client may use
(KIP-48).

Answers are shown as bytes, because kio can't read the time -1.
"""

import struct

from ..registry import Scene, Steps, question

CREATE = 38


def text(value: str | None, flexible: bool) -> bytes:
    if value is None:
        return b"\0" if flexible else b"\xff\xff"
    data = value.encode()
    return (bytes([len(data) + 1]) if flexible else struct.pack(">h", len(data))) + data


def count(number: int, flexible: bool) -> bytes:
    return bytes([number + 1]) if flexible else struct.pack(">i", number)


def raw(s: Scene, key: int, body: bytes, flexible: bool) -> str:
    """The bytes of an answer after its header, in hexadecimal."""
    answer = s.raw(key, s.version, body + (b"\0" if flexible else b""), flexible=flexible)
    return answer if isinstance(answer, str) else answer[1 if flexible else 0 :].hex()


def _create(
    s: Scene,
    *renewers: tuple[str, str],
    owner: tuple[str | None, str | None] = (None, None),
    lifetime_ms: int = -1,
) -> str:
    flexible = s.version >= 2
    body = b"".join(text(each, flexible) for each in owner) if s.version >= 3 else b""
    body += count(len(renewers), flexible)
    for renewer in renewers:
        body += b"".join(text(each, flexible) for each in renewer) + (b"\0" if flexible else b"")
    return raw(s, CREATE, body + struct.pack(">q", lifetime_ms), flexible)


def with_any_period(s: Scene, key: int) -> Steps:
    """Requests about a token, whose bodies are an HMAC and a period."""
    flexible = s.version >= 2
    for hmac in (b"", b"h" * 64):
        for period_ms in (-1, 0, 1000):
            body = count(len(hmac), flexible) + hmac + struct.pack(">q", period_ms)
            yield f"{len(hmac)} bytes, {period_ms} ms", raw(s, key, body, flexible)


def any_client_may_connect(s: Scene) -> Steps:
    yield "for itself", _create(s)
    yield "with renewers", _create(s, ("User", "alice"), ("User", "bob"))
    yield "with a renewer that is no user", _create(s, ("Group", "admins"))
    yield "with a lifetime", _create(s, lifetime_ms=1000)
    yield "with a lifetime below zero", _create(s, lifetime_ms=-2)


@question(since=3)
def owners(s: Scene) -> Steps:
    yield "another user", _create(s, owner=("User", "alice"))
    yield "empty name", _create(s, owner=("User", ""))
    yield "no name", _create(s, owner=("User", None))
    yield "another type", _create(s, owner=("Group", "admins"))
    yield "empty type", _create(s, owner=("", "alice"))
    yield "no type", _create(s, owner=(None, "alice"))
