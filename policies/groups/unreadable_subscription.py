"""`unreadable-subscription`: what a coordinator does when it can't read the subscription of a consumer.

A client sees its group without it go on, though the broker does not know its topics. With `fails` nobody who
waits for the next generation is answered, and whoever would have begun it by his request gets
UNKNOWN_SERVER_ERROR. Lengths in the subscription that are null or too large do this; one that ends early does
not (`ConsumerProtocol.java`).
"""

from typing import Final, Literal

from ..behaviour import Switch

unreadable_subscription: Final = Switch[Literal["ignored", "fails"]](
    name="unreadable-subscription",
    summary="whether a group whose consumer's subscription can't be read gets no further",
    answers={"ignored": False, "fails": True},
    history=(("0.11", "ignored"), ("2.8", "fails"), ("4.4", "ignored")),
)
