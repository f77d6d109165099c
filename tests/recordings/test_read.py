"""Recordings as `view` and `analyze` read them."""

from pathlib import Path

from mockbroker.cli.recorded_trace import events, write_trace
from mockbroker.recordings.file import Line, Writer, read
from mockbroker.trace.events import Answer, Keyframe, Request
from mockbroker.trace.files import check_schema

HEARTBEAT = b"\0\x0c\0\0" + b"\0\0\0\7" + b"\0\2me" + b"\0\1g" + b"\0\0\0\3" + b"\0\1m"
REFUSED = b"\0\0\0\7" + b"\0\x19"


def recorded(path: Path) -> Path:
    with path.open("wb") as file:
        writer = Writer(file, values=False)
        writer.write(Line(1_000_000, 1, opened=("10.0.0.9:5000", "10.0.0.1:9092")))
        writer.write(Line(2_000_000, 1, request=HEARTBEAT))
        writer.write(Line(2_005_000, 1, answer=REFUSED))
        writer.finish()
    return path


def test_a_recording_is_a_trace_of_its_requests_and_answers(tmp_path: Path) -> None:
    path, made = recorded(tmp_path / "file"), tmp_path / "trace.jsonl"
    start, request, answer = events(read(path))
    assert isinstance(start, Keyframe)
    assert isinstance(request, Request)
    assert (request.broker, request.client_id, request.api, request.names) == (1, "me", "Heartbeat", ("g",))
    assert isinstance(answer, Answer)
    assert (answer.errors, answer.took_ms, answer.names) == (("UNKNOWN_MEMBER_ID",), 5, ("g",))
    write_trace(path, made)
    with made.open() as file:
        check_schema(made, file.readline())
        assert len(file.readlines()) == 3
