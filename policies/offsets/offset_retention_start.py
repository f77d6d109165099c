"""`offset-retention-start`: from when `offsets.retention.minutes` counts (KIP-211, KAFKA-4682).

Up to 2.0 a consumer that commits nothing new loses its offsets, even while it is a member; since 2.1 they
stay while the group has members (but for `unsubscribed-offsets`), and go that long after it became empty.
"""

from typing import Final, Literal

from ..behaviour import Switch

offset_retention_start: Final = Switch[Literal["commit", "empty-group"]](
    name="offset-retention-start",
    summary="whether committed offsets expire from their commit on, or from when the group is empty",
    answers={"commit": True, "empty-group": False},
    history=(("0.11", "commit"), ("2.1", "empty-group")),
    ids=("KIP-211", "KAFKA-4682"),
)
