"""`renewal-after-error`: a client gets its telemetry subscription again, because the old one was refused.

A client whose push was answered UNKNOWN_SUBSCRIPTION_ID or UNSUPPORTED_COMPRESSION_TYPE asks again at once.
Up to 4.0 it then gets THROTTLING_QUOTA_EXCEEDED until the push interval is over. Since 4.1 it gets the
subscription.
"""

from typing import Final, Literal

from ..behaviour import Switch

renewal_after_error: Final = Switch[Literal["throttled", "at-once"]](
    name="renewal-after-error",
    summary="whether a client whose push was refused has to wait for its new telemetry subscription",
    answers={"throttled": False, "at-once": True},
    history=(("0.11", "throttled"), ("4.1", "at-once")),
    ids=("KIP-714",),
)
