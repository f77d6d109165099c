"""`down-conversion`: what becomes of records for a Fetch of an old version (KIP-283).

Up to 1.1 a broker converts all records before it answers; in 0.11 it fails if one has headers
(UNKNOWN_SERVER_ERROR). Since 2.0 it converts them while it sends the
answer, whose size it has to announce before: records that have become larger are cut off, and where they have
become smaller, the beginning of a message follows that is too large for any consumer, which ignores it. Up to
2.8 a part of a batch is sent as it is, and `message.downconversion.enable=false` only counts where there is a
batch; the records of a partition that is refused are empty. Since 3.0 nothing is sent of a part, partitions
without records are refused too, and the records of refused ones are null.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Conversion(NamedTuple):
    padded: bool
    """To the size before."""
    always: bool
    """Also where no batch is whole."""
    headers: bool = True
    """Whether records with headers can be converted."""


down_conversion: Final = Behaviour[Conversion](
    name="down-conversion",
    summary="the size of records that are converted for an old Fetch, and when they are converted",
    answers={
        "without-headers": Conversion(padded=False, always=False, headers=False),
        "exact": Conversion(padded=False, always=False),
        "padded": Conversion(padded=True, always=False),
        "padded-always": Conversion(padded=True, always=True),
    },
    history=(("0.11", "without-headers"), ("1.0", "exact"), ("2.0", "padded"), ("3.0", "padded-always")),
    ids=("KIP-283",),
)
