"""`added-share-partition`: where a share group begins in a partition that its topic is given later.

Up to 4.3 it begins where `share.auto.offset.reset` says when it first reads from the partition, so that
with `latest` it loses what was written before (`reset`). Since 4.4 it begins with the first record
(`first-record`).
"""

from typing import Final

from ..behaviour import Behaviour

added_share_partition: Final = Behaviour[int](
    name="added-share-partition",
    summary="where a share group begins in a partition that its topic is given later",
    answers={"reset": -1, "first-record": 0},
    history=(("0.11", "reset"), ("4.4", "first-record")),
    ids=("KAFKA-20742",),
    fixed="first-record",
)
