"""`mockbroker capture --decode`: prints what is in a packet capture."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from ..captures import Message, messages
from ..faults.match import api_name, parse_api
from ..protocol.capture_files import read
from ..shown import shown


def show(path: Path, apis: list[str], *, as_json: bool) -> None:
    """One line for each message. FaultError for an unknown API, CaptureError, OSError."""
    wanted = {api_name(parse_api(each)) for each in apis}
    with path.open("rb") as file:
        for message in messages(read(file)):
            if not wanted or message.api in wanted:
                sys.stdout.write((_json(message) if as_json else _text(message)) + "\n")


def _text(message: Message) -> str:
    when = datetime.fromtimestamp(message.time_us / 1_000_000, UTC)
    return f"{when:%H:%M:%S.%f} {shown(str(message))}"


def _json(message: Message) -> str:
    return json.dumps(message._asdict(), default=str)
