"""The offsets topic of real clusters, read from segments, dumps and a console consumer's output."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder

from mockbroker.dumps.offsets_files import read
from mockbroker.dumps.offsets_topic import OffsetsTopic
from mockbroker.errors import OptionError
from mockbroker.protocol.batch_writing import Marker, marker_of
from mockbroker.protocol.group_metadata import GroupMetadata, read_group
from mockbroker.protocol.offsets_log import Commit, CommitKey, commit_key, commit_value, read_commit, read_key
from mockbroker.protocol.record_batch import Record, header_of, records

from ..pipeline.readers.segments import data, old
from .recordings import HERE, PARTITIONS, PIPELINE, RELEASES

SEGMENT = "00000000000000000000.log"
LOG = PIPELINE / "3.9.2" / "__consumer_offsets-0"
DUMPS = [
    *((HERE / release / "data", HERE / release / "dump-log.txt") for release in RELEASES),
    (LOG, PIPELINE / "3.9.2" / "dump-log-3.9.2-offsets.txt"),
    (PIPELINE / "4.3.1" / "__consumer_offsets-0", PIPELINE / "4.3.1" / "dump-log-4.3.1-offsets.txt"),
]
OLD_DUMP = PIPELINE / "3.9.2" / "dump-log-2.8.2-offsets.txt"
EXPIRES = (
    "[g,t,1]::OffsetAndMetadata(offset=3, leaderEpoch=Optional[5], metadata=a, b, commitTimestamp=7, "
    "expireTimestamp=Some(9))"
)
CONSOLE = [
    [PIPELINE / "3.9.2" / "console-offsets.txt"],
    [PIPELINE / "3.9.2" / "console-offsets.json", PIPELINE / "3.9.2" / "console-groups.json"],
    [PIPELINE / "4.3.1" / "console-groups.json", PIPELINE / "4.3.1" / "console-offsets.json"],
]


def batches(topic: OffsetsTopic) -> list[bytes]:
    logs = topic.logs(topic.partition_count(None))
    return [bytes(each) for _, log in sorted(logs.items()) for segment in log for each in segment.batches]


def commits(topic: OffsetsTopic) -> list[tuple[CommitKey, int | None]]:
    """Keys and offsets, None for tombstones, in the order in which each partition has them."""
    found = []
    for batch in batches(topic):
        for record in records(batch):
            key = read_key(record.key or b"") if not header_of(batch).attributes & 0x20 else None
            if isinstance(key, CommitKey):
                found.append((key, None if record.value is None else read_commit(record.value).offset))
    return found


def shown(record: Record) -> tuple[object, ...]:
    """A group's record, as far as dumps show it: not the version of an assignment, 3 for Java's consumers."""
    if record.value is None or (record.key or b"")[1] != 2:
        return record
    group = read_group(record.value)
    members = [each._replace(assignment=each.assignment[2:]) for each in group.members]
    return (*record[:3], group._replace(members=members))


def of_group(found: list[tuple[CommitKey, int | None]]) -> dict[str, list[tuple[CommitKey, int | None]]]:
    """As groups have them, whose partitions may be in any order."""
    groups: dict[str, list[tuple[CommitKey, int | None]]] = {}
    for key, offset in found:
        groups.setdefault(key.group, []).append((key, offset))
    return groups


@pytest.mark.parametrize("release", RELEASES)
def test_segments_stay_as_they_are(release: str) -> None:
    topic = read([HERE / release / "data"])
    assert topic.partition_count(None) == PARTITIONS
    for partition, log in topic.logs(PARTITIONS).items():
        (segment,) = log
        path = HERE / release / "data" / f"__consumer_offsets-{partition}" / SEGMENT
        assert segment.base_offset == 0
        assert b"".join(segment.batches) == path.read_bytes()


@pytest.mark.parametrize(("segments", "dump"), DUMPS)
def test_a_dump_is_written_as_the_segments_were(segments: Path, dump: Path) -> None:
    topic, given = read([dump]), read([segments])
    assert topic.partition_count(None) == given.partition_count(None)
    whole = batches(given)
    made = batches(topic)
    assert len(made) == len(whole) > 10
    for mine, theirs in zip(made, whole, strict=True):
        if b"consumer-" in mine:
            assert list(map(shown, records(mine))) == list(map(shown, records(theirs)))
        else:
            assert mine == theirs
    assert topic.left_out == 0
    assert (topic.records, topic.last_ms) == (given.records, given.last_ms)
    assert topic.committed == given.committed
    assert topic.sizes == given.sizes
    assert topic.topic_ids == given.topic_ids


def test_a_dump_by_an_old_tool_has_the_same_offsets() -> None:
    topic, given = read([OLD_DUMP]), read([LOG])
    assert commits(topic) == commits(given)
    assert [header_of(a)[:1] + header_of(a)[5:] for a in batches(topic)] == [
        header_of(b)[:1] + header_of(b)[5:] for b in batches(given)
    ]


def test_a_dump_by_the_tool_of_0_11(tmp_path: Path) -> None:
    """One line for each record and its batch; a tombstone has neither key nor payload
    (`DumpLogSegments.scala`)."""
    form = (
        "offset: {0} position: {1} CreateTime: {2} isvalid: true keysize: 20 valuesize: 28 magic: 2 "
        "compresscodec: NONE producerId: {3} producerEpoch: {4} sequence: -1 isTransactional: {5} "
        "headerKeys: []{6}"
    )
    lines = [
        (0, 0, 1000, -1, -1, "false", " key: offset::billing:orders:3 payload: 42:with: text"),
        (1, 99, 1001, -1, -1, "false", " key: metadata::billing payload: consumer:range:7:{m-1=[orders-3]}"),
        (2, 200, 1002, -1, -1, "false", ""),
        (3, 260, 1003, 8, 2, "true", " key: offset::billing:orders:4 payload: 5"),
        (4, 350, 1004, 8, 2, "true", " endTxnMarker: ABORT coordinatorEpoch: 6"),
    ]
    path = tmp_path / "dump.txt"
    head = "Dumping /data/__consumer_offsets-21/00000000000000000000.log\nStarting offset: 0\n"
    path.write_text(head + "".join(form.format(*each) + "\n" for each in lines))
    topic = read([path])
    assert (topic.records, topic.left_out, topic.last_ms) == (3, 1, 1004)
    ((segment,),) = topic.logs(50).values()
    heads = [header_of(batch) for batch in segment.batches]
    assert [(each.base_offset, each.record_count, each.producer_id) for each in heads] == [
        (0, 1, -1),
        (1, 1, -1),
        (2, 0, -1),
        (3, 1, 8),
        (4, 1, 8),
    ]
    (commit,), (group,) = records(segment.batches[0]), records(segment.batches[1])
    assert read_commit(commit.value or b"") == Commit(42, -1, "with: text", 1000)
    assert read_group(group.value or b"") == GroupMetadata("consumer", 7, None, None, 1001, [])
    assert marker_of(segment.batches[4], heads[4]) == Marker(8, 2, committed=False, coordinator_epoch=6)


@pytest.mark.parametrize(
    ("line", "commit"),
    [
        (EXPIRES, Commit(3, 5, "a, b", 7, 9)),
        ("[g,t,1]::[OffsetMetadata[3,NO_METADATA],CommitTime 7,ExpirationTime 9]", Commit(3, -1, "", 7, 9)),
    ],
)
def test_an_offset_that_expires_is_written_with_that_time(tmp_path: Path, line: str, commit: Commit) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(line + "\n")
    (batch,) = batches(read([path]))
    (record,) = records(batch)
    # Version 1, the only one that has it, has no leader epoch.
    assert read_commit(record.value or b"") == commit._replace(leader_epoch=-1)


@pytest.mark.parametrize("paths", CONSOLE, ids=lambda paths: f"{paths[0].parent.name}/{paths[0].name}")
def test_a_consumers_output_has_the_same_offsets(paths: list[Path]) -> None:
    topic = read(paths)
    assert topic.partition_count(None) == 50
    found = of_group(commits(topic))
    told = of_group(commits(read([paths[0].parent / "__consumer_offsets-0"])))
    assert found
    for group, mine in found.items():
        # Consumers that came later are in the segment, too.
        assert mine == told[group][: len(mine)]
    for log in topic.logs(50).values():
        offsets = [header_of(batch).base_offset for batch in log[0].batches]
        assert offsets == list(range(len(offsets)))


def test_compressed_text_and_whole_folders(tmp_path: Path) -> None:
    packed = tmp_path / "dump.gz"
    packed.write_bytes(gzip.compress(DUMPS[0][1].read_bytes()))
    assert batches(read([packed])) == batches(read([DUMPS[0][1]]))
    # As in a broker's folder of logs.
    for name in ("orders-0", "__transaction_state-0", "__consumer_offsets-0"):
        shutil.copytree(PIPELINE / "3.9.2" / name, tmp_path / "data" / name)
    stray = tmp_path / "data" / "__consumer_offsets-3.0123456789abcdef0123456789abcdef-stray"
    shutil.copytree(LOG, stray)
    (tmp_path / "data" / "meta.properties").write_text("version=1\n")
    (tmp_path / "data" / "__consumer_offsets-0" / "00000000000000000000.index").write_bytes(bytes(80))
    assert batches(read([tmp_path / "data"])) == batches(read([LOG]))


def test_a_dump_that_names_no_folder_belongs_where_its_groups_do(tmp_path: Path) -> None:
    text = (HERE / "3.9.2" / "dump-log.txt").read_text()
    one = text.index("Dumping", 1) if text.count("Dumping") > 1 else len(text)
    path = tmp_path / "dump.txt"
    path.write_text(text[:one])
    (where,) = read([path]).logs(PARTITIONS)
    path.write_text(text[:one].replace(f"Dumping __consumer_offsets-{where}/", "Dumping "))
    topic = read([path])
    assert not topic.placed
    assert list(topic.logs(PARTITIONS)) == [where]


def test_messages_of_the_old_formats_become_batches(tmp_path: Path) -> None:
    path = tmp_path / "__consumer_offsets-4" / SEGMENT
    path.parent.mkdir()
    path.write_bytes(old(1, 1) + old(0, 0))
    (tmp_path / "other" / "__consumer_offsets-4").mkdir(parents=True)
    with pytest.raises(OptionError, match="give one log for each partition"):
        read([path]).logs(50)  # both begin at offset 0
    path.write_bytes(old(1, 1))
    ((segment,),) = read([path]).logs(50).values()
    assert [(each.offset, each.timestamp, each.value) for b in segment.batches for each in records(b)] == [
        (offset, 1000 + offset, b"value %d" % offset) for offset in range(3)
    ]


def test_messages_without_timestamp_end_with_the_last_commit(tmp_path: Path) -> None:
    path = tmp_path / "__consumer_offsets-21" / SEGMENT
    path.parent.mkdir()
    builder = LegacyRecordBatchBuilder(0, 0, batch_size=1 << 20)
    for offset, time_ms in enumerate((7000, 5000)):
        value = commit_value(Commit(offset, -1, "", time_ms), 0)
        builder.append(offset, timestamp=None, key=commit_key("billing", "orders", offset), value=value)
    path.write_bytes(builder.build())
    topic = read([path])
    assert (topic.last_ms, topic.end_ms) == (-1, 7000)
    assert topic.committed.keys() == {("orders", 0), ("orders", 1)}


def test_space_that_was_set_aside_is_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "__consumer_offsets-4" / SEGMENT
    path.parent.mkdir()
    path.write_bytes(data(0) + bytes(500))
    ((segment,),) = read([path]).logs(50).values()
    assert segment.batches == [data(0)]


def test_segments_of_one_log_are_put_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-4"
    folder.mkdir()
    first, second = folder / f"{5:020}.log", folder / f"{12:020}.log"
    first.write_bytes(data(7))
    second.write_bytes(data(12) + data(14))
    (log,) = read([second, first]).logs(50).values()
    assert [(each.base_offset, len(each.batches)) for each in log] == [(5, 1), (12, 2)]


def test_what_a_dump_does_not_show_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    text = (HERE / "4.4.0" / "dump-log.txt").read_text()
    key = text.index(' key: {"type":"1"')
    end = text.index("\n", key)
    other = ' key: {"type":"3","data":{"groupId":"new"}} payload: {"version":"0","data":{"epoch":4}}'
    path.write_text(text[:key] + other + text[end:])
    topic, whole = read([path]), read([HERE / "4.4.0" / "data"])
    assert (topic.left_out, topic.records) == (1, whole.records - 1)
    # The batch has its offsets, and one record less.
    made, were = batches(topic), batches(whole)
    changed = [(header_of(a), header_of(b)) for a, b in zip(made, were, strict=True) if a != b]
    assert [(a.base_offset, a.last_offset_delta, a.record_count + 1) for a, _ in changed] == [
        (b.base_offset, b.last_offset_delta, b.record_count) for _, b in changed
    ]
    assert len(changed) == 1


def test_a_log_without_records(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-4"
    folder.mkdir()
    (folder / f"{9:020}.log").touch()
    topic = read([tmp_path])
    assert (topic.partition_count(None), topic.last_ms) == (50, -1)
    ((segment,),) = topic.logs(50).values()
    assert (segment.base_offset, segment.batches) == (9, [])


def test_nothing_large_is_imported_for_it() -> None:
    paths = list(map(str, (*DUMPS[0], CONSOLE[0][0])))
    program = (
        "import sys\n"
        "from mockbroker.dumps.offsets_files import read\n"
        "from mockbroker.server import restoring\n"
        f"assert all(read([path]).records for path in {paths})\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "mockbroker.dumps.offsets_console" in done.stdout.split()
    assert not {"pandas", "pyarrow", "numpy", "pyspark", "mockbroker.pipeline"} & set(done.stdout.split())


# -- how many partitions


def test_a_number_that_is_given_wins(tmp_path: Path) -> None:
    topic = read([HERE / "3.9.2" / "data"])
    assert topic.partition_count(60) == 60
    with pytest.raises(OptionError, match=r"offsets.topic.num.partitions is 3, but there are records of"):
        topic.partition_count(3)


def test_groups_that_no_number_of_partitions_puts_there(tmp_path: Path) -> None:
    # All groups of the only partition: those with different remainders can't be in one of several.
    shutil.copytree(LOG, tmp_path / "__consumer_offsets-1")
    with pytest.raises(OptionError, match=r"--config offsets\.topic\.num\.partitions=NUMBER"):
        read([tmp_path]).partition_count(None)


# -- what can't be used


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["missing"], "missing: No such file or directory"),
        (["README.md"], "README.md shows nothing of the offsets topic: give segments"),
        ([PIPELINE / "3.9.2" / "orders-0" / SEGMENT], "is of orders-0, not of __consumer_offsets"),
        ([PIPELINE / "3.9.2" / "dump-log-3.9.2-records.txt"], "line 1: this is of orders-0, not of"),
        (
            [PIPELINE / "4.3.1" / "console-transactions.json"],
            "line 1: this is a record of __transaction_state",
        ),
        ([PIPELINE / "3.9.2" / "orders-0"], "there is nothing of the offsets topic in this folder"),
        (
            [HERE / "3.9.2" / "dump-log.txt", PIPELINE / "3.9.2" / "console-offsets.txt"],
            "is output of kafka-dump-log, and .*txt is output of a console consumer: give files of one kind",
        ),
    ],
)
def test_files_of_another_kind(files: list[Path], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        read(files)


def test_a_segment_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "__consumer_offsets-4" / SEGMENT
    path.parent.mkdir()
    path.write_bytes(data(0) + data(2)[:-1])
    with pytest.raises(
        OptionError, match=rf"truncated tail: .* at byte {len(data(0))}: copy it again"
    ) as raised:
        read([path])
    assert f"truncate -s {len(data(0))} FILE" in str(raised.value)
    spoiled = bytearray(data(0) + data(2))
    spoiled[-1] ^= 1
    path.write_bytes(spoiled)
    with pytest.raises(OptionError, match="wrong CRC"):
        read([path])


def test_a_segment_in_a_folder_that_names_no_partition(tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    path.write_bytes(data(0))
    with pytest.raises(OptionError, match="put it into a folder __consumer_offsets-N"):
        read([path])


def test_two_replicas_of_a_partition(tmp_path: Path) -> None:
    for broker in ("one", "two"):
        shutil.copytree(LOG, tmp_path / broker / "__consumer_offsets-0")
    with pytest.raises(OptionError, match="give one log for each partition, as one broker has it"):
        read([tmp_path]).logs(1)


def test_a_dump_that_was_not_decoded(tmp_path: Path) -> None:
    lines = (HERE / "3.9.2" / "dump-log.txt").read_text().splitlines(keepends=True)
    path = tmp_path / "dump.txt"
    path.write_text("".join(each for each in lines if not each.startswith("|")))
    with pytest.raises(OptionError, match="shows no decoded records: dump the segments with"):
        read([path])


def test_lines_that_are_cut_or_damaged(tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    text = (HERE / "3.9.2" / "dump-log.txt").read_text()
    path.write_text(text[: text.rindex('"data"') + 9])
    with pytest.raises(OptionError, match=r"line \d+: it is cut short"):
        read([path])
    path.write_text(text.replace("isvalid: true", "isvalid: false", 1))
    with pytest.raises(OptionError, match=r"line 3: wrong CRC .*: dump it again, from a segment"):
        read([path])
    console = (PIPELINE / "4.3.1" / "console-offsets.json").read_text()
    path.write_text(console[:-20])
    with pytest.raises(OptionError, match="line 1: torn last line: dump again, or remove what is incomplete"):
        read([path])
    path.write_bytes(gzip.compress(text.encode())[:-30])
    with pytest.raises(OptionError, match="compressed data is broken"):
        read([path])


def test_it_is_told_how_much_was_read() -> None:
    told: list[tuple[int, int]] = []
    read([HERE / "3.9.2" / "data"], lambda done, total: told.append((done, total)))
    sizes = [path.stat().st_size for path in (HERE / "3.9.2" / "data").rglob("*.log")]
    assert told == sorted(told)
    assert told[-1] == (sum(sizes), sum(sizes))
