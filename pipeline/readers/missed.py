"""Why a file about Kafka is no log that can be read."""

import re
from typing import Final

from ...dumps.files import Head
from . import python_messages
from .log_times import begins
from .logs import BROKER_LOGGER, CLIENT_LOGGER, TABLES

_CLOCK: Final = re.compile(r"\[?\d\d:\d\d:\d\d[.,]\d{3}\b")
_OTHERS: Final = re.compile(
    r"\[(?:Connection|Runner|ConsumerGroup|Consumer|Producer)\] |#(?:consumer|producer)-\d"
)


def missed(head: Head) -> str | None:
    """What its lines lack, if they are about Kafka; None if they are not."""
    lines = [line for line in head.lines if line.strip()]
    if not head.text or not any(map(_about_kafka, lines)) or any(map(begins, lines)):
        return None
    if any(line.startswith("{") for line in lines):
        return (
            "its objects of JSON have no time that can be read, and without it nothing tells what came "
            "before what"
        )
    if any(map(_CLOCK.match, lines)):
        return "its lines have a time of the day but no date"
    return "its lines have neither date nor time, and without them nothing tells what came before what"


def _about_kafka(line: str) -> bool:
    patterns = (BROKER_LOGGER, CLIENT_LOGGER, python_messages.LOGGER, _OTHERS)
    return any(each.search(line) for each in patterns) or any(table.knows(line) for table in TABLES)
