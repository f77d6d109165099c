"""`fetch-of-nameless-topic`: Fetch v13 and later with a topic that has neither name nor id.

Up to 4.2 the broker fails when it looks up the topic in the session, and a client gets UNKNOWN_SERVER_ERROR.
Since 4.3 the topic is unknown: UNKNOWN_TOPIC_ID.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_of_nameless_topic: Final = Switch[Literal["fails", "unknown-topic-id"]](
    name="fetch-of-nameless-topic",
    summary="whether a Fetch fails on a topic with neither name nor id",
    answers={"fails": True, "unknown-topic-id": False},
    history=(("0.11", "fails"), ("4.3", "unknown-topic-id")),
)
