"""The file of a recording: whole, cut off at any byte, put one after another, and what is none."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.recordings.file import Line, RecordingError, Writer, is_recording, read
from tests.properties import examples

LINES = st.lists(
    st.one_of(
        st.builds(Line, st.integers(0, 1 << 60), st.integers(1, 9), request=st.binary(max_size=200)),
        st.builds(Line, st.integers(0, 1 << 60), st.integers(1, 9), answer=st.binary(max_size=200)),
        st.builds(Line, st.integers(0, 1 << 60), st.integers(1, 9), token=st.integers(0, 99)),
        st.builds(Line, st.integers(0, 1 << 60), st.integers(1, 9), closed=st.just(True)),
        st.builds(Line, st.integers(0, 1 << 60), st.integers(1, 9), opened=st.just(("a:1", "[::1]:9092"))),
    ),
    max_size=8,
)


def written(lines: list[Line], *, values: bool = False) -> bytes:
    file = io.BytesIO()
    writer = Writer(file, values=values)
    for each in lines:
        writer.write(each)
    writer.finish()
    return file.getvalue()


@given(LINES, LINES)
@settings(max_examples=examples(40))
def test_what_is_written_is_read_also_if_one_follows_another(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Line], others: list[Line]
) -> None:
    path = tmp_path_factory.mktemp("recorded") / "file"
    path.write_bytes(written(lines, values=True) + written(others))
    found = read(path)
    assert (found.lines, found.cut, found.values) == (lines + others, None, False)
    assert is_recording(path)


@given(LINES.filter(bool), st.floats(0, 1, exclude_max=True))
@settings(max_examples=examples(40))
def test_one_that_was_cut_off_is_read_up_to_there(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Line], where: float
) -> None:
    path = tmp_path_factory.mktemp("recorded") / "file"
    head, data = len(written([])), written(lines)
    path.write_bytes(data[: head + int((len(data) - head) * where)])
    found = read(path)
    assert found.cut is not None
    assert found.lines == lines[: len(found.lines)]


def test_each_line_can_be_read_once_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        writer = Writer(file, values=False)
        for number in range(1, 4):
            writer.write(Line(number, 1, request=b"r"))
            assert [each.at_us for each in read(path).lines] == list(range(1, number + 1))


def _packed(lines: bytes) -> bytes:
    """Without the time: it would be in the names of tests, which all workers have to agree on."""
    return gzip.compress(lines, mtime=0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}", "is not a recording: `mockbroker record CAPTURE -o FILE` makes one"),
        (b"", "is not a recording"),
        (_packed(b"hello\n"), "is not a recording"),
        (_packed(b'{"schema": "mockbroker-trace", "version": 2}\n'), "it is a mockbroker-trace"),
        (
            _packed(b'{"schema": "mockbroker-recording", "version": 2}\n'),
            "is a recording of version 2, and this mockbroker reads version 1: install a newer one",
        ),
        (
            _packed(b'{"schema": "mockbroker-recording", "version": 1}\n{"at_us": 1}\n'),
            "line 2 is none of a recording",
        ),
        (
            _packed(
                b'{"schema": "mockbroker-recording", "version": 1}\n'
                b'{"at_us": 1, "connection": 1, "request": "%%"}\n'
            ),
            "line 2 is none of a recording",
        ),
    ],
)
def test_what_is_no_recording_says_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="file") as refused:
        read(path)
    assert said in str(refused.value)
