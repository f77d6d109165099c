"""`verified-compression`: a compressed batch whose partition had to be verified first (KAFKA-15653).

With `invalid-record` a client gets INVALID_RECORD for the first batch of a transaction. Brokers of 3.6.0
answer so now and then, because they read a buffer that is already in use again; 3.6.1 and later append the
batch.
"""

from typing import Final, Literal

from ..behaviour import Switch

verified_compression: Final = Switch[Literal["accepted", "invalid-record"]](
    name="verified-compression",
    summary="whether compressed batches survive verification",
    answers={"accepted": True, "invalid-record": False},
    history=(("0.11", "accepted"),),
    ids=("KAFKA-15653",),
)
