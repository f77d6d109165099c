"""`fenced-error`: which error tells a producer that it is fenced by the transaction coordinator (KIP-588).

Up to 2.6 a client gets INVALID_PRODUCER_EPOCH. Since 2.7 newer versions of the transactional APIs answer
PRODUCER_FENCED, which is fatal, unlike the other.
"""

from collections.abc import Mapping
from typing import Final

from ...protocol.api_keys import ApiKey
from ..behaviour import Behaviour

fenced_error: Final = Behaviour[Mapping[ApiKey, int]](
    name="fenced-error",
    summary="whether newer request versions are answered PRODUCER_FENCED",
    answers={
        "invalid-producer-epoch": {},
        "by-version": {
            ApiKey.INIT_PRODUCER_ID: 4,
            ApiKey.ADD_PARTITIONS_TO_TXN: 2,
            ApiKey.ADD_OFFSETS_TO_TXN: 2,
            ApiKey.END_TXN: 2,
        },
    },
    history=(("0.11", "invalid-producer-epoch"), ("2.7", "by-version")),
    ids=("KIP-588",),
)
"""For each API, the version since which the error is PRODUCER_FENCED."""
