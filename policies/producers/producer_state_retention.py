"""`producer-state-retention`: how long a partition remembers an idle producer (KAFKA-7190, KIP-360).

Up to 2.3 a producer is forgotten when all its records are deleted. Since 2.4 it is remembered until
`transactional.id.expiration.ms` after its last batch, and since 3.4 until `producer.id.expiration.ms` after
it (KIP-854).
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Retention(NamedTuple):
    """Whether a producer is forgotten with its last record, and which configuration says when it expires."""

    with_records: bool
    setting: str


producer_state_retention: Final = Behaviour[Retention](
    name="producer-state-retention",
    summary="when a partition forgets a producer",
    answers={
        "with-records": Retention(True, "transactional.id.expiration.ms"),
        "until-transactional-id-expiration": Retention(False, "transactional.id.expiration.ms"),
        "until-producer-id-expiration": Retention(False, "producer.id.expiration.ms"),
    },
    history=(
        ("0.11", "with-records"),
        ("2.4", "until-transactional-id-expiration"),
        ("3.4", "until-producer-id-expiration"),
    ),
    ids=("KAFKA-7190", "KIP-360", "KIP-854"),
)
