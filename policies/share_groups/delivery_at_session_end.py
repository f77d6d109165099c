"""`delivery-at-session-end`: whether a delivery counts after which the member ended its share session.

What a member has acquired and not acknowledged is let go when its share session ends. In 4.1 the delivery
is taken back, so that the next member gets the records with the delivery count that they had before, and a
record that makes every member crash is delivered for ever (`taken-back`). Since 4.2 the delivery counts
(`counts`).
"""

from typing import Final, Literal

from ..behaviour import Switch

delivery_at_session_end: Final = Switch[Literal["taken-back", "counts"]](
    name="delivery-at-session-end",
    summary="whether a delivery counts after which the member ended its share session",
    answers={"taken-back": False, "counts": True},
    history=(("0.11", "taken-back"), ("4.2", "counts")),
    ids=("KIP-932",),
)
