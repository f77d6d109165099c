"""`auto-created-topic`: Metadata asks for a topic that is created upon it (KAFKA-9751).

A client sees an error that it retries, then the topic: LEADER_NOT_AVAILABLE while brokers created topics in
ZooKeeper, UNKNOWN_TOPIC_OR_PARTITION since they ask a KRaft controller. With `created` the topic is in the
first answer, as no release does.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

auto_created_topic: Final = Behaviour[ErrorCode](
    name="auto-created-topic",
    summary="what Metadata says of a topic that it has just created",
    answers={
        "leader-not-available": ErrorCode.LEADER_NOT_AVAILABLE,
        "unknown-topic-or-partition": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "created": ErrorCode.NONE,
    },
    history=(("0.11", "leader-not-available"), ("3.3", "unknown-topic-or-partition")),
    ids=("KAFKA-9751",),
)
