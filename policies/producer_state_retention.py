"""`producer-state-retention`: how long a partition remembers an idle producer (KAFKA-7190, KIP-360).

A client whose records were all deleted is forgotten with them up to 2.3; since 2.4 it is remembered until
`transactional.id.expiration.ms`, or `producer.id.expiration.ms` since 3.4.
"""

from typing import Final

from .behaviour import Behaviour

BEHAVIOUR: Final = Behaviour[bool](
    name="producer-state-retention",
    summary="whether a producer is forgotten when the last of its records is deleted",
    answers={"with-records": True, "until-expiration": False},
    history=(("0.11", "with-records"), ("2.4", "until-expiration")),
    ids=("KAFKA-7190", "KIP-360"),
)
