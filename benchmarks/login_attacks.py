"""Attacks on listeners with logins, and on ACLs. The attacker ends with an error if it was let in.

The cluster has the listener that the good client uses, and for each protocol another one, of that name.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Final

from benchmarks.attacking import UNENDED, LetInError, Target, ask, begun, one_after_the_other, unended
from benchmarks.wire import Writer
from mockbroker.protocol.api_keys import ApiKey

OPTIONS: Final = (
    *("--listener", "PLAINTEXT=PLAINTEXT", "--listener", "SSL=SSL"),
    *("--listener", "SASL_PLAINTEXT=SASL_PLAINTEXT", "--tls", "--client-auth", "requested"),
    *("--sasl", "plain", "--sasl", "scram-sha-512", "--sasl", "oauthbearer", "--user", "alice:secret"),
    *("--super-user", "ANONYMOUS"),
)
"""What these attacks need of a cluster."""
OPTIONS_OF: Final = {"signed-tokens": ("--signed-tokens",)}
"""And what one of them needs besides."""
_ACLS: Final = 100_000
_MOST_BYTES: Final = 524_288
"""`sasl.server.max.receive.size`."""


def unended_logins(target: Target) -> None:
    """1,000 connections that begin to log in by SCRAM and do not go on; those that are closed come again."""
    first = b"n,,n=alice,r=" + b"a" * 1000
    unended(target.at("SASL_PLAINTEXT"), [_handshake("SCRAM-SHA-512") + _authenticate(first)])


def wrong_passwords(target: Target) -> None:
    """Logins by PLAIN and by SCRAM with a wrong password, each on a connection of its own."""
    proof = base64.b64encode(bytes(64))

    def scram(sock: socket.socket) -> bytes:
        nonce = _exchange(sock, "SCRAM-SHA-512", b"n,,n=alice,r=abc")[8:].split(b",")[0]
        return ask(sock, _authenticate(b"c=biws," + nonce[nonce.index(b"r=") :] + b",p=" + proof))

    _log_in(target, [lambda sock: _exchange(sock, "PLAIN", b"\0alice\0wrong"), scram])


def tokens(target: Target) -> None:
    """Tokens of OAUTHBEARER as large as a login may be: numbers, nested lists, many claims."""
    room = _MOST_BYTES * 3 // 4 - 1000
    claims = [
        b'{"sub":"a","exp":' + b"9" * room + b"}",
        b'{"sub":' + b"[" * (room // 2) + b"]" * (room // 2) + b"}",
        json.dumps({f"{number}": 0 for number in range(room // 16)}).encode(),
    ]
    header = _part(b'{"alg":"none"}')
    _log_in(target, [_with_token(header + b"." + _part(each) + b".") for each in claims])


def signed_tokens(target: Target) -> None:
    """Signed ones as large as a login may be: headers of many names and of nested lists, claims with a wrong
    signature, and many claims with a right one, in a token that has expired; and small ones."""
    room = _MOST_BYTES * 3 // 4 - 2000
    names = {f"{number}": 0 for number in range(room // 16)}
    headers = [
        json.dumps({"alg": "RS256", **names}).encode(),
        b'{"alg":' + b"[" * (room // 2) + b"]" * (room // 2) + b"}",
    ]
    right = _part(b'{"alg":"RS256","kid":"mockbroker"}')
    signature = b"." + _part(b"\1" * 256)
    tokens = [_part(each) + b"." + _part(b"{}") + signature for each in headers]
    tokens += [right + b"." + _part(each) + signature for each in (b"x" * room, b"{}")]
    asked = json.dumps({"user": "a", "kind": "expired", "more": names}).encode()
    with urllib.request.urlopen(f"{target.control}/tokens", data=asked, timeout=10) as answer:
        tokens.append(json.load(answer)["token"].encode())
    _log_in(target, [_with_token(each) for each in tokens])


def _part(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _with_token(token: bytes) -> Callable[[socket.socket], bytes]:
    def way(sock: socket.socket) -> bytes:
        _exchange(sock, "OAUTHBEARER", b"n,,\1auth=Bearer " + token + b"\1\1")
        return ask(sock, _authenticate(b"\1"))

    return way


def long_messages(target: Target) -> None:
    """First messages of SCRAM and PLAIN of 500 KB, which almost are right."""
    room = _MOST_BYTES - 1000
    scram = [b"n,,n=" + b"=2C" * (room // 3) + b"=", b"n,,n=a,r=b" + b",x=y" * (room // 4) + b","]

    def one(mechanism: str, message: bytes) -> Callable[[socket.socket], bytes]:
        return lambda sock: _exchange(sock, mechanism, message)

    _log_in(target, [*(one("SCRAM-SHA-512", each) for each in scram), one("PLAIN", b"\0" * room)])


def _log_in(target: Target, ways: list[Callable[[socket.socket], bytes]]) -> None:
    """Each way on connections of its own, without waiting for the delay of a refusal. LetInError."""
    there = target.at("SASL_PLAINTEXT")
    begun()
    turn = 0
    with ExitStack() as stack:
        while target.going_on:
            turn += 1
            sock = stack.enter_context(there.connect())
            sock.settimeout(0.02)
            with suppress(OSError):
                answered = ways[turn % len(ways)](sock)
                if not struct.unpack_from(">h", answered)[0]:
                    raise LetInError(f"a wrong login was taken: {answered!r}")
            if turn % UNENDED == 0:
                stack.close()


def before_login(target: Target) -> None:
    """Produce of 10 MB, Metadata, and sizes of 2 GB, on connections that have not logged in."""
    there = target.at("SASL_PLAINTEXT")
    metadata = bytes(Writer(ApiKey.METADATA, 1, flexible=False).put("l", -1).done())
    sizes = [struct.pack(">i", 2**31 - 1), struct.pack(">i", 10_000_000) + bytes(10_000_000), metadata]
    begun()
    turn = 0
    while target.going_on:
        turn += 1
        with suppress(OSError), there.connect() as sock:
            sock.settimeout(0.1)
            answered = ask(sock, sizes[turn % len(sizes)])
            raise LetInError(f"answered before a login: {answered!r}")


def acls(target: Target) -> None:
    """CreateAcls of 100,000 entries, DescribeAcls and DeleteAcls of all of them, again and again."""
    creation = Writer(ApiKey.CREATE_ACLS, 1, flexible=False).put("l", _ACLS)
    for number in range(_ACLS):
        creation.put("bsbssbb", 2, f"{number}-{'t' * 100}", 3 + number % 2, f"User:{number}", "*", 3, 3)
    listing = Writer(ApiKey.DESCRIBE_ACLS, 1, flexible=False).put("bsbssbb", 2, None, 1, None, None, 1, 1)
    deletion = Writer(ApiKey.DELETE_ACLS, 1, flexible=False).put("l", 1)
    deletion.put("bsbssbb", 2, None, 1, None, None, 1, 1)
    one_after_the_other(target, *(bytes(each.done()) for each in (creation, listing, deletion)))


def credentials(target: Target) -> None:
    """AlterUserScramCredentials of 20,000 users with 2³¹ - 1 iterations, and with 16,384."""
    frames = []
    for iterations in (2**31 - 1, 16_384):
        writer = Writer(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, flexible=True).put("ll", 0, 20_000)
        for number in range(20_000):
            writer.put("sbixxt", f"user-{number}", 2, iterations, b"s" * 32, b"p" * 64)
        frames.append(bytes(writer.put("t").done()))
    one_after_the_other(target, *frames)


LOGIN_ATTACKS: Final[dict[str, Callable[[Target], None]]] = {
    "unended-logins": unended_logins,
    "wrong-passwords": wrong_passwords,
    "tokens": tokens,
    "signed-tokens": signed_tokens,
    "long-messages": long_messages,
    "before-login": before_login,
    "acls": acls,
    "credentials": credentials,
}


def _handshake(mechanism: str) -> bytes:
    return bytes(Writer(ApiKey.SASL_HANDSHAKE, 1, flexible=False).put("s", mechanism).done())


def _authenticate(message: bytes) -> bytes:
    return bytes(Writer(ApiKey.SASL_AUTHENTICATE, 0, flexible=False).put("x", message).done())


def _exchange(sock: socket.socket, mechanism: str, message: bytes) -> bytes:
    """The answer to the first message of a login."""
    ask(sock, _handshake(mechanism))
    return ask(sock, _authenticate(message))
