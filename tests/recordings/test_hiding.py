"""What is left out of a recording, and what is still there."""

import pytest

from mockbroker.protocol.message_set import crc_matches as old_crc_matches
from mockbroker.protocol.message_set import message_of, read_message
from mockbroker.protocol.record_batch import COMPRESSION_MASK, HEADER_BYTES, crc_matches, parse_header
from mockbroker.protocol.record_batch import Record as Stored
from mockbroker.protocol.record_batch import records as records_of
from mockbroker.recordings.file import Line, Writer
from mockbroker.recordings.hiding import hidden
from mockbroker.recordings.messages import read_request, write_request
from mockbroker.recordings.recorder import Recorder
from mockbroker.rig.batches import CONTROL, GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, batch
from mockbroker.rig.client import Client, encode, flexible, key_of

SECRETS = [Record(b"hush" * 9, b"alice", headers=(("h", b"quiet"),)), Record(None, b"bob"), Record(b"", None)]


class Lines(Writer):
    """Keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def write(self, line: Line) -> None:
        self.lines.append(line)


def request(api: str, version: int, fields: dict[str, object]) -> bytes:
    client = Client("nowhere", 0)
    _, head = client.header(key_of(api), version, flexible(api, version))
    return head + encode(api, version, fields)


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_batch_without_its_contents_is_a_valid_one_of_the_same_sizes(codec: int) -> None:
    before = bytes(batch([*SECRETS, SECRETS[0]], codec=codec, producer_id=7, producer_epoch=1, sequence=3))
    after = bytearray(hidden(before, lambda key: bytes(len(key))))
    header = parse_header(after)
    assert crc_matches(after, header)
    assert header.attributes & COMPRESSION_MASK == codec
    same = ("base_offset", "record_count", "producer_id", "base_sequence", "max_timestamp")
    assert [getattr(header, each) for each in same] == [getattr(parse_header(before), each) for each in same]
    found = list(records_of(bytes(after)))
    assert [each.value for each in found] == [b"x" * 36, None, b"", b"x" * 36]
    assert [each.key and len(each.key) for each in found] == [5, 3, None, 5]
    assert not [word for word in (b"hush", b"alice", b"quiet") if word in bytes(after[HEADER_BYTES:])]


def test_markers_stay_and_what_is_torn_goes() -> None:
    marker = bytes(batch([Record(b"\0\0\0\0\0\0", b"\0\0\0\1")], attributes=CONTROL))
    assert hidden(marker + marker[:30], lambda key: b"?" * len(key)) == marker


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_old_formats_too(magic: int) -> None:
    before = message_of(Stored(5, 1_000, b"key", b"hush"), magic)
    after = hidden(before, lambda key: b"k" * len(key))
    assert len(after) == len(before)
    assert after[-11:] == b"kkk" + b"\0\0\0\4" + b"xxxx"
    assert old_crc_matches(after, read_message(after))
    # Of what is no message nothing is kept.
    assert hidden(bytes(batch(1, magic=magic)), bytes) == b""


def test_the_same_key_has_the_same_letters() -> None:
    writer = Lines()
    recorder = Recorder(writer, values=False)
    recorder.opened(0, 1, "c:1", "b:1")
    produced: dict[str, object] = {
        "transactional_id": None,
        "acks": -1,
        "timeout": 1000,
        "topic_data": [
            {
                "name": "t",
                "partition_data": [
                    {"index": 0, "records": bytes(batch([Record(b"v", b"alice"), Record(b"v", b"carol")]))},
                    {"index": 1, "records": bytes(batch([Record(b"v", b"alice")]))},
                ],
            }
        ],
    }
    recorder.request(1, 1, request("produce", 9, produced))
    kept = read_request(writer.lines[1].request or b"").body
    keys = [
        each.key for partition in kept.topic_data[0].partition_data for each in records_of(partition.records)
    ]
    assert keys[0] == keys[2] != keys[1]
    assert b"alice" not in keys


def test_logins_and_passwords_are_never_recorded() -> None:
    writer = Lines()
    recorder = Recorder(writer, values=True)
    recorder.opened(0, 1, "c:1", "b:1")
    recorder.request(1, 1, request("sasl_handshake", 0, {"mechanism": "PLAIN"}))
    recorder.answer(2, 1, b"\0\0\0\1" + b"\0\0" + b"\0\0\0\0")
    recorder.request(3, 1, b"\0alice\0secret")
    recorder.answer(4, 1, b"")
    recorder.request(5, 1, request("sasl_authenticate", 2, {"auth_bytes": b"\0alice\0secret"}))
    config = {"name": "ssl.keystore.password", "config_operation": 0, "value": "secret"}
    resource = {"resource_type": 4, "resource_name": "1", "configs": [config]}
    recorder.request(6, 1, request("incremental_alter_configs", 1, {"resources": [resource]}))
    kept = [each.request for each in writer.lines if each.request]
    assert len(kept) == 3
    assert not [each for each in kept if b"secret" in each]
    assert [each.token for each in writer.lines if each.token is not None] == [13]


def test_a_request_that_cant_be_read_keeps_only_its_header() -> None:
    writer = Lines()
    recorder = Recorder(writer, values=True)
    recorder.opened(0, 1, "c:1", "b:1")
    recorder.request(1, 1, b"\0\3\x7f\0" + b"\0\0\0\1" + b"\0\1c" + b"secret")
    assert writer.lines[1].request == b"\0\3\x7f\0" + b"\0\0\0\1" + b"\0\1c" + bytes(6)
    assert recorder.counts.unreadable == 1


def test_a_request_that_has_no_secret_is_kept_byte_by_byte() -> None:
    asked = request("heartbeat", 4, {"group_id": "g", "generation_id": 1, "member_id": "m"})
    read = read_request(asked)
    assert write_request(read, read.body) == asked
