"""Packet captures and recordings: only what went over the wire, without Kafka's own state.

High watermarks, log starts, leaders and in-sync replicas are those in answers, and there is a row when one of
them changes. `broker` is known if a Metadata answer said whose port it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ...captures import Message, messages
from ...dumps.files import Head
from ...protocol import capture_files
from ...recordings.exchanges import messages as recorded_messages
from ...recordings.file import RecordingError
from ...recordings.file import read as recording_of
from ..observations import Observation
from . import exchanges
from .bodies import Values
from .files import MOST_TEXT, Reading, readable, unreadable
from .registry import Reader
from .trace import Exchanges, observation

SOURCE: Final = "capture"
RECORDING: Final = "recording"
_CAPTURES: Final = (
    b"\n\r\r\n",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
)
_RECORDING: Final = b'{"schema":"mockbroker-recording"'
_STATES: Final = {"Metadata": exchanges.leaders, "Fetch": exchanges.state_of_partitions}
"""By API; any other answer may say who leads now."""


def recognises(head: Head) -> bool:
    return head.data.startswith(_CAPTURES) and not head.compressed


class _Capture:
    """The messages of one file, in order."""

    def __init__(self, file: str, source: str) -> None:
        self._file, self._source = file, source
        self._exchanges = Exchanges()
        self._brokers: dict[tuple[str, int], int] = {}
        self._last: dict[tuple[Any, ...], Values] = {}

    def rows(self, number: int, message: Message) -> Iterator[Observation]:
        if not isinstance(message.body, dict):
            row = unreadable(self._source, self._file, number, str(message.body), str(message))
            row.time_ms, row.client, row.api = message.time_us // 1000, message.client_id, message.api
            yield row
            return
        found = [*self._exchanges.rows(self._row(message)), *self._states(message)]
        text = str(message)[:MOST_TEXT]
        for values in found:
            yield observation(values, self._source, self._file, number, text)

    def _row(self, message: Message) -> dict[str, Any]:
        """The message as a row of a trace."""
        return {
            "kind": "request" if message.is_request else "answer",
            "time_ms": message.time_us // 1000,
            "broker": self._brokers.get(message.broker),
            "connection": (message.client, message.broker),
            "client_id": message.client_id,
            "api": message.api,
            "correlation_id": message.correlation_id,
            "outcome": "answer",
            "body": message.body,
        }

    def _states(self, message: Message) -> Iterator[Values]:
        """What an answer says about partitions that was not known before."""
        if message.is_request:
            return
        names = self._exchanges.names
        if message.api == "Metadata":
            for broker in message.body.get("brokers") or []:
                self._brokers[(broker["host"], broker["port"])] = broker["node_id"]
        broker_id = self._brokers.get(message.broker)
        for values in _STATES.get(message.api, exchanges.current_leaders)(message.body, names):
            place = (values["kind"], values["topic"], values["partition"])
            if self._last.get(place) != values:
                self._last[place] = values
                yield {"time_ms": message.time_us // 1000, "broker": broker_id} | values


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """`position` counts requests and answers, from 1."""
    with readable(path):
        opened = path.open("rb")
    with opened:
        yield from _rows(path, messages(capture_files.read(opened)), SOURCE)


def _rows(path: Path, every: Iterable[Message], source: str) -> Iterator[Observation]:
    capture, file, number = _Capture(str(path), source), str(path), 0
    try:
        for number, message in enumerate(every, 1):
            try:
                found = list(capture.rows(number, message))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                found = [unreadable(source, file, number, f"{type(error).__name__}: {error}", str(message))]
            for row in found:
                yield replace(row, time_ms=message.time_us // 1000)
    except (capture_files.CaptureError, ValueError, IndexError, ArithmeticError) as error:
        yield unreadable(source, file, number + 1, f"the {source} ends here: {error}")
    except Exception as error:
        if type(error).__name__ != "error":  # struct.error has no better name
            raise
        yield unreadable(source, file, number + 1, f"the {source} ends here: {error}")


def recorded(head: Head) -> bool:
    return head.compressed and head.data.startswith(_RECORDING)


def read_recording(path: Path, reading: Reading) -> Iterator[Observation]:
    """As `read`, of a recording."""
    try:
        with readable(path):
            recording = recording_of(path)
    except RecordingError as error:
        yield unreadable(RECORDING, str(path), 1, str(error))
        return
    yield from _rows(path, recorded_messages(recording), RECORDING)
    if recording.cut is not None:
        number = len(recording.lines) + 1
        yield unreadable(RECORDING, str(path), number, f"the recording ends here: {recording.cut}")


READERS: Final = [
    Reader(SOURCE, "packet capture", recognises, read),
    Reader(RECORDING, "recording", recorded, read_recording),
]
