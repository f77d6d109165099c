"""Log messages of share groups: of the leaders of their partitions, and of Java's share consumers (KIP-932).

Comments name the classes that log them. A share partition is written as `GROUP-TOPICID:TOPIC-PARTITION`.
"""

from typing import Final

from .log_messages import message
from .share_states import WARNING

_SHARE: Final = r"(?P<group>[^\s:]{1,300})-[\w-]{22}:{tp}"

BROKER: Final = (
    # SharePartition
    message(
        WARNING,
        "is on last delivery attempt in share partition",
        rf"(?P<detail>The offset {{offset}} is on last delivery attempt) in share partition: {_SHARE}",
    ),
    message(
        "log-start",
        "is not greater than the start offset",
        r"The log start offset: {offset} is not greater than the start offset: \d+ for the share partition: "
        rf"{_SHARE.replace('group', 'group_from')}",
    ),
)
CLIENT: Final = (
    # ShareSessionHandler
    message(
        "complaint",
        "was unable to process the Share",
        r"(?P<detail>Node -?\d+ was unable to process the (?P<api>ShareFetch|ShareAcknowledge) request with "
        r"[^\n]{0,300}?: (?P<error>[A-Z_]{3,60}))\b",
    ),
)
