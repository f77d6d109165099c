"""`new-partition-sequence`: the first batch of a new partition comes from an idempotent producer, and its
sequence is not 0 (KAFKA-15591).

A producer that has several requests in flight sends two batches to a partition that was just created. The
first comes before the leader knows that it leads, and is refused; the second comes after that. Since 2.5 the
broker takes it (`any`). Whenever the producer sends the first batch again, it gets
OUT_OF_ORDER_SEQUENCE_NUMBER, until its delivery times out. With `zero`, as from 4.5 on, a log that has never
held a record takes no sequence but 0: the second batch gets OUT_OF_ORDER_SEQUENCE_NUMBER as well, and is sent
again after the first.

A partition that has held records takes any sequence, even if they were all deleted. Where `unknown-producer`
refuses such a batch, this is not asked.
"""

from typing import Final, Literal

from ..behaviour import Switch

new_partition_sequence: Final = Switch[Literal["any", "zero"]](
    name="new-partition-sequence",
    summary="whether a partition without any record takes a batch whose sequence is not 0",
    answers={"any": False, "zero": True},
    history=(("0.11", "any"),),
    ids=("KAFKA-15591", "KAFKA-14312", "KAFKA-19880"),
    fixed="zero",
)
