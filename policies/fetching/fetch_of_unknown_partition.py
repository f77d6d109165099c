"""`fetch-of-unknown-partition`: the aborted transactions of a partition that does not exist.

A client sees null up to 2.8, as for any other error, and an empty list since 3.0.
"""

from typing import Final

from ..behaviour import Behaviour

fetch_of_unknown_partition: Final = Behaviour[tuple[()] | None](
    name="fetch-of-unknown-partition",
    summary="the aborted transactions that Fetch lists for a partition that does not exist",
    answers={"null": None, "empty": ()},
    history=(("0.11", "null"), ("3.0", "empty")),
)
