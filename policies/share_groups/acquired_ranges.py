"""`acquired-ranges`: how ShareFetch names records that were let go one by one.

In 4.1 each of them is a range of its own (`single`), even if its neighbours were delivered as often. Since
4.2 neighbours with the same delivery count are one range (`joined`).
"""

from typing import Final, Literal

from ..behaviour import Switch

acquired_ranges: Final = Switch[Literal["single", "joined"]](
    name="acquired-ranges",
    summary="whether neighbouring records that were let go one by one are acquired as one range",
    answers={"single": False, "joined": True},
    history=(("0.11", "single"), ("4.2", "joined")),
    ids=("KIP-932",),
)
