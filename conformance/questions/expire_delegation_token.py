"""ExpireDelegationToken, of brokers that any client may use (KIP-48)."""

import struct

from ...rig.scene import Scene
from ..registry import Steps, about
from .create_delegation_token import count, raw

question = about("expire_delegation_token")


@question()
def any_client_may_connect(s: Scene) -> Steps:
    flexible = s.version >= 2
    for hmac in (b"", b"h" * 64):
        for period_ms in (-1, 0, 1000):
            body = count(len(hmac), flexible) + hmac + struct.pack(">q", period_ms)
            yield f"{len(hmac)} bytes, {period_ms} ms", raw(s, 40, body, flexible)
