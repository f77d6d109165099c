"""`unknown-share-topic`: what ShareFetch answers if one of its topic ids is unknown.

Up to 4.3 the whole request fails with UNKNOWN_SERVER_ERROR, so that a member whose topic was deleted gets
no records of its other topics either (`fails`): the broker counts what it answers by the names of topics,
once it has read (`KafkaApis.processShareFetchResponse`). Since 4.4 only the partitions of that topic get
UNKNOWN_TOPIC_ID, or UNKNOWN_TOPIC_OR_PARTITION if it was there when the session got them
(`its-partitions`).
"""

from typing import Final, Literal

from ..behaviour import Switch

unknown_share_topic: Final = Switch[Literal["fails", "its-partitions"]](
    name="unknown-share-topic",
    summary="whether ShareFetch fails as a whole if a topic id is unknown",
    answers={"fails": False, "its-partitions": True},
    history=(("0.11", "fails"), ("4.4", "its-partitions")),
    ids=("KIP-932",),
)
