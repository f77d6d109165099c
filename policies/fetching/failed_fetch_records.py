"""`failed-fetch-records`: the records of partitions for which the broker fails in a Fetch (KAFKA-18646).

A client that sends an isolation level which does not exist gets, up to v12, UNKNOWN_SERVER_ERROR for each
partition. Its records are null up to 3.9; since 4.0 they are empty, because librdkafka can't read null.
"""

from typing import Final, Literal

from ..behaviour import Switch

failed_fetch_records: Final = Switch[Literal["null", "empty"]](
    name="failed-fetch-records",
    summary="whether the records of a Fetch on which the broker fails are null",
    answers={"null": True, "empty": False},
    history=(("0.11", "null"), ("4.0", "empty")),
    ids=("KAFKA-18646",),
)
