"""`unreadable-subscription`: what a coordinator does when it can't read the subscription of a consumer.

With `ignored` the group goes on, although the broker does not know what that consumer subscribes to. With
`fails` no member that waits for the next generation is answered, and the request that would have started it
gets UNKNOWN_SERVER_ERROR. Null or too large lengths in the subscription cause this; a subscription that ends
early does not (`ConsumerProtocol.java`).
"""

from typing import Final, Literal

from ..behaviour import Switch

unreadable_subscription: Final = Switch[Literal["ignored", "fails"]](
    name="unreadable-subscription",
    summary="whether a consumer's subscription that can't be read stops its group",
    answers={"ignored": False, "fails": True},
    history=(("0.11", "ignored"), ("2.8", "fails"), ("4.4", "ignored")),
)
