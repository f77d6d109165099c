"""`emptied-expression`: a member of a consumer group that no longer subscribes to a regular expression.

Up to 4.1 it keeps what it had by the regular expression until something else begins an epoch. Since 4.2 an
epoch begins at once.
"""

from typing import Final, Literal

from ..behaviour import Switch

emptied_expression: Final = Switch[Literal["next-epoch", "new-epoch"]](
    name="emptied-expression",
    summary="what follows when a member of a consumer group takes its regular expression back",
    answers={"next-epoch": False, "new-epoch": True},
    history=(("0.11", "next-epoch"), ("4.2", "new-epoch")),
    ids=("KIP-848",),
)
