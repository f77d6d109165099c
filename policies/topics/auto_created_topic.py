"""`auto-created-topic`: Metadata asks for a topic that is then created automatically (KAFKA-9751).

A client first gets a retriable error, and the topic only when it asks again. The error is
LEADER_NOT_AVAILABLE with ZooKeeper, and UNKNOWN_TOPIC_OR_PARTITION with KRaft. With `created` the first
answer already has the topic; no release does that.
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
