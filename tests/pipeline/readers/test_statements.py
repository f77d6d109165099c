"""What brokers and clients may log: what the catalogue says of it is so, and what nobody knows is counted."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from docs.log_lines.catalogue import rule
from docs.log_lines.rulings import REASONS
from docs.log_lines.samples import samples
from mockbroker.pipeline.readers import Reading, client_messages, complaints, read
from mockbroker.pipeline.readers.logs import TABLES
from mockbroker.pipeline.readers.shapes import MOST_SHAPES, OTHER
from mockbroker.pipeline.readers.statements import COMPLAINT, LATER, NOTHING, Index, Statement, shortened
from mockbroker.pipeline.readers.statements import complaints as known_complaints
from mockbroker.pipeline.readers.statements import read as statements

from .reading import of_kind, rows
from .test_logs import log

STATEMENTS = statements()
NAMES = {made.name for table in TABLES for made in table.messages} | {client_messages.LISTS}
RULES = [each for each in STATEMENTS if each.verdict in NAMES]
OURS = "[2026-11-23 02:46:01,972] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
ADVICE = {
    "broker": f"{OURS}[2026-11-23 02:46:02,000] WARN MX4j is deprecated and will be removed in Kafka 5.0 "
    "(kafka.utils.Mx4jLoader)\n",
    "librdkafka": "%4|1795974623.814|SHARECONSUMER|billing-1#consumer-1| [thrd:app]: The share consumer is "
    'in "Preview" and is not recommended for production use\n',
}


def test_every_statement_has_a_verdict_that_exists() -> None:
    verdicts = {each.verdict for each in STATEMENTS}
    verdicts -= {COMPLAINT, LATER, *NAMES, *(f"{NOTHING}{reason}" for reason in REASONS)}
    assert not verdicts
    assert {each.level for each in STATEMENTS if each.verdict == LATER} == {"INFO"}


def test_a_line_of_each_statement_matches_its_rule() -> None:
    assert len(RULES) > 250
    for each in RULES:
        assert rule(each.template, each.where[0], each.level.split(",")[0]) == each.verdict, each.template


@pytest.mark.long
def test_no_rule_matches_other_statements() -> None:
    others = [each for each in STATEMENTS if each.verdict in (COMPLAINT, LATER)]
    for each in others:
        assert rule(each.template, each.where[0], each.level.split(",")[0]) is None, each.template


def test_a_line_of_each_complaint_is_known() -> None:
    known = known_complaints()
    loud = [each for each in STATEMENTS if each.verdict == COMPLAINT and each.level != "INFO"]
    lines = {
        each: f" ERROR {next(samples(each.template))} (org.apache.kafka.{each.where[0]})" for each in loud
    }
    unknown = [each.template for each, line in lines.items() if known.find(line) is None]
    assert len(loud) > 1_000
    assert len(unknown) <= len(loud) // 200, unknown


def test_the_longest_fixed_part_is_kept_of_what_tells_nothing() -> None:
    assert shortened("Loaded {a} of the files in {b}") == "of the files in"
    assert shortened("{a}one two three four five six seven eight nine{b}") == (
        "one two three four five six seven eight"
    )


def test_of_statements_that_fit_the_one_with_most_text_is_found() -> None:
    def statement(template: str) -> Statement:
        return Statement("WARN", (), ("Log",), COMPLAINT, template)

    index = Index.of(
        [
            statement("Failed to read {tp}"),
            statement("Failed to read {tp} at offset {offset} of the log"),
            statement("Gave up {x}"),
        ]
    )
    found = index.find("[Log] Failed to read orders-0 at offset 7 of the log (kafka.log.Log)")
    assert found is not None
    assert found.values == [("tp", "orders-0"), ("offset", "7")]
    assert index.find("Failed to write orders-0 at offset 7 of the log") is None
    assert index.find("Gave up 7 (kafka.log.Segment)") is None, "few words need their class"
    assert index.find("Gave up 7 (kafka.log.Log)") is not None


def test_a_complaint_has_its_subject_and_error(tmp_path: Path) -> None:
    text = (
        f"{OURS}[2026-11-23 02:46:02,000] ERROR [ReplicaManager broker=1] Error processing append operation "
        "on partition orders-0 (kafka.server.ReplicaManager)\n"
        "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the ISR is too small\n"
    )
    (told,) = of_kind(rows(log(tmp_path, text)), COMPLAINT)
    assert (told["broker"], told["topic"], told["partition"]) == (1, "orders", 0)
    assert told["error"] == "NOT_ENOUGH_REPLICAS"
    assert told["detail"].startswith("[ReplicaManager broker=1] Error processing append")


@pytest.mark.parametrize(
    "said",
    [
        "Failed to write the share group state for share partition: {}",
        "Base offset 7 not found for share partition: {}",
        "Failed to initialize the share partition: {}. Invalid state found: nothing.",
    ],
)
def test_the_group_of_a_share_partition_may_have_a_dash(said: str, tmp_path: Path) -> None:
    where = "my-jobs-CKG1ztYjSQKYHMPJwhhbwQ:my-orders-3"
    line = f"[2026-11-23 02:46:02,000] ERROR {said.format(where)} (kafka.server.share.SharePartition)\n"
    (told,) = of_kind(rows(log(tmp_path, OURS + line)), COMPLAINT)
    assert (told["group"], told["topic"], told["partition"]) == ("my-jobs", "my-orders", 3)


def test_lines_that_nobody_knows_are_counted_by_shape(tmp_path: Path) -> None:
    gone = "[2026-11-23 02:46:02,000] WARN The moon has gone {} times from 'here' (x.Moon)\n"
    path = log(tmp_path, OURS + gone.format(1) + gone.format(22) + gone.format(3).replace("WARN", "INFO"))
    reading = Reading()
    list(read(path, reading))
    ((shape, found),) = reading.shapes.most_frequent(20)
    assert (found.count, found.file, found.position) == (2, str(path), 2)
    assert shape == "WARN The moon has gone … times from 'here' (x.Moon)"


@pytest.mark.parametrize("advice", ADVICE.values(), ids=ADVICE)
def test_what_tells_nothing_is_neither_counted_nor_a_row(advice: str, tmp_path: Path) -> None:
    reading = Reading()
    assert not of_kind(rows(log(tmp_path, advice), reading), COMPLAINT)
    assert not reading.shapes.known


def test_many_shapes_and_many_complaints_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complaints, "MOST_ROWS", 5)
    at = "[2026-11-23 02:46:02,000] ERROR"
    shapes = [
        f"{at} {chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)} went away\n"
        for n in range(3_000)
    ]
    same = [
        f"{at} Error processing append operation on partition orders-{n} (k.ReplicaManager)\n"
        for n in range(9)
    ]
    reading = Reading()
    found = rows(log(tmp_path, OURS + "".join(shapes + same)), reading)
    assert len(reading.shapes.known) <= MOST_SHAPES + 1
    assert sum(each.count for each in reading.shapes.known.values()) >= 3_000
    assert reading.shapes.known[OTHER].count >= 1_000
    assert len(of_kind(found, COMPLAINT)) <= 5


@pytest.mark.parametrize("level", ["ERROR,INFO", "INFO"])
def test_clients_that_complain_at_info(level: str) -> None:
    quiet = [each for each in STATEMENTS if each.verdict == COMPLAINT and each.level == level]
    some = list(islice(quiet, 20))
    assert all(
        known_complaints(quiet=True).find(next(samples(each.template)))
        for each in some
        if "{" in each.template
    )
