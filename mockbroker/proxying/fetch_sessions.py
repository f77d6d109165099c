"""Sessions of Fetch (KIP-227) that faults end: who has not seen a request would refuse the next one."""

from dataclasses import replace
from typing import Final

from ..faults.exchange import Exchange
from ..protocol.api_keys import ApiKey
from ..protocol.messages.fetch import FetchRequest

_FINAL: Final = -1


def ending(exchange: Exchange) -> FetchRequest | None:
    """What ends the session of a Fetch that a fault has answered, and asks for no records; None if there is
    none."""
    request = exchange.request
    if exchange.api is not ApiKey.FETCH or not request.session_id or request.session_epoch == _FINAL:
        return None
    last: FetchRequest = replace(
        request, session_epoch=_FINAL, max_wait_ms=0, topics=[], forgotten_topics_data=[]
    )
    return last
