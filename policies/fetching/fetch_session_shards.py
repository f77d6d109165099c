"""`fetch-session-shards`: a Fetch names a session id that no broker gives out (KAFKA-9401).

Since 3.8 sessions are kept in eight caches, by ranges of ids. An id outside of these, 2147483640 or more, or
far below 0, makes the broker fail, and a client gets UNKNOWN_SERVER_ERROR. Before, it gets
FETCH_SESSION_ID_NOT_FOUND.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_session_shards: Final = Switch[Literal["one", "eight"]](
    name="fetch-session-shards",
    summary="whether a session id beyond all ranges is not found or fails",
    answers={"one": False, "eight": True},
    history=(("0.11", "one"), ("3.8", "eight")),
    ids=("KAFKA-9401",),
)
