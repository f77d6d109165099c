"""`auto-created-topic`: Metadata asks for a topic that is created upon it (KAFKA-9751).

A client gets a retriable error first, and then the topic. The error is LEADER_NOT_AVAILABLE with ZooKeeper,
and UNKNOWN_TOPIC_OR_PARTITION with KRaft. With `created` the topic is in the first answer, which no release
does.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

auto_created_topic: Final = Behaviour[ErrorCode](
    name="auto-created-topic",
    summary="what Metadata answers for a topic that it has just created",
    answers={
        "leader-not-available": ErrorCode.LEADER_NOT_AVAILABLE,
        "unknown-topic-or-partition": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "created": ErrorCode.NONE,
    },
    history=(("0.11", "leader-not-available"), ("3.3", "unknown-topic-or-partition")),
    ids=("KAFKA-9751",),
)
