"""`session-use`: what keeps a fetch session from being evicted (KAFKA-9137, KIP-227).

When the cache of sessions is full, a session that was not used for two minutes is evicted. With `creation`,
as up to 2.4, requests do not count as use: a busy consumer whose session is older than that gets
FETCH_SESSION_ID_NOT_FOUND whenever another client needs room, and begins anew with a full Fetch.
"""

from typing import Final, Literal

from ..behaviour import Switch

session_use: Final = Switch[Literal["creation", "requests"]](
    name="session-use",
    summary="whether requests count as use of a fetch session, or only its creation",
    answers={"creation": False, "requests": True},
    history=(("0.11", "creation"), ("2.5", "requests")),
    ids=("KAFKA-9137",),
)
