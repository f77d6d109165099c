"""`altered-share-epoch`: whether a share group begins an epoch when its offsets are altered (KAFKA-20910).

KIP-932 says so. Brokers up to 4.4 keep the group's epoch, and hand the present one to the share coordinator
(`kept`): a leader that read the state before is not told apart from one that reads it after. The fix begins
an epoch, and writes it, before the share coordinator is asked (`begins`).
"""

from typing import Final, Literal

from ..behaviour import Switch

altered_share_epoch: Final = Switch[Literal["kept", "begins"]](
    name="altered-share-epoch",
    summary="whether AlterShareGroupOffsets begins an epoch of the group",
    answers={"kept": False, "begins": True},
    history=(("0.11", "kept"),),
    ids=("KAFKA-20910",),
    fixed="begins",
)
