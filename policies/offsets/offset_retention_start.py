"""`offset-retention-start`: from when `offsets.retention.minutes` counts (KIP-211, KAFKA-4682).

Up to 2.0 a consumer that commits nothing new loses its offsets even while it is a member. Since 2.1 they stay
while the group has members (except for `unsubscribed-offsets`), and expire once it has been empty for the
retention time.
"""

from typing import Final, Literal

from ..behaviour import Switch

offset_retention_start: Final = Switch[Literal["commit", "empty-group"]](
    name="offset-retention-start",
    summary="whether the retention time of offsets begins with their commit, or when the group becomes empty",
    answers={"commit": True, "empty-group": False},
    history=(("0.11", "commit"), ("2.1", "empty-group")),
    ids=("KIP-211", "KAFKA-4682"),
)
