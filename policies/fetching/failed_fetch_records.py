"""`failed-fetch-records`: the records of partitions in a Fetch on which the broker fails (KAFKA-18646).

A client that sends an isolation level which Kafka does not have sees, up to v12, UNKNOWN_SERVER_ERROR for
each partition, with records that are null. Since 4.0 they are empty: librdkafka can't read null ones.
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
