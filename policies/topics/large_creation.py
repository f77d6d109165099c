"""`large-creation`: topics that are created by one request need more than 10000 records.

Each topic takes one metadata record, and so does each of its partitions and configurations. Since 3.5 a
client gets POLICY_VIOLATION for every topic of such a CreateTopics, and a Metadata request that would create
so many topics creates none (`MAX_RECORDS_PER_USER_OP` in `QuorumController.java`).
"""

from typing import Final

from ..behaviour import Behaviour

large_creation: Final = Behaviour[str | None](
    name="large-creation",
    summary="whether one request may create so many topics that they take more than 10000 records",
    answers={"refused": "Unable to perform excessively large batch operation.", "created": None},
    history=(("0.11", "created"), ("3.5", "refused")),
)
"""The value is the error message."""
