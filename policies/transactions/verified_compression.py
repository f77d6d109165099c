"""`verified-compression`: a compressed batch whose partition had to be verified first (KAFKA-15653).

With `invalid-record`, as 3.6.0 answers now and then since it reads a buffer that was given back, a client
sees INVALID_RECORD for the first batch of a transaction; 3.6.1 and later append it.
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
