"""`share-fetch-of-nothing`: what ShareFetch answers if it asks for 0 records or 0 bytes.

4.1 reads all the same: the answer has partitions without records, and with 0 bytes they have
UNKNOWN_SERVER_ERROR (`read`). Since 4.2 nothing is read, as clients need it that only renew locks
(`not-read`).
"""

from typing import Final, Literal

from ..behaviour import Switch

share_fetch_of_nothing: Final = Switch[Literal["read", "not-read"]](
    name="share-fetch-of-nothing",
    summary="whether ShareFetch reads if it asks for 0 records or 0 bytes",
    answers={"read": False, "not-read": True},
    history=(("0.11", "read"), ("4.2", "not-read")),
    ids=("KIP-1222",),
)
