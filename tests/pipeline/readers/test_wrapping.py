"""Logs in JSON, of containers and of syslog give the rows of the lines that are inside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.pipeline.readers import Reading, recognise
from mockbroker.pipeline.readers.wrapping import WrongLineError, wrapping

from .reading import STORIES, rows

LOG = STORIES / "kafka-7104.log"
NOW = datetime(2026, 11, 26, tzinfo=UTC)
STAMP = "2018-06-23T00:45:38.000000001Z"
ENTRY = re.compile(
    r"\[(?P<at>[\d :-]+),(?P<ms>\d{3})\] (?P<level>\w+) (?P<message>.*?)(?: \((?P<logger>[\w.]+)\))?"
)


def docker(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield json.dumps({"log": f"{line}\n", "stream": "stdout", "time": STAMP})


def kubernetes(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"{STAMP} stdout F {line}"


def syslog(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"Jun 23 00:45:38 host-1 kafka[123]: {line}"


def cloudwatch(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"2018-06-23T00:45:38.000Z {line}"


def aws_tail(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"2018-06-23T00:45:38.000000+00:00 Broker-1 {line}"


def aws_events(text: str) -> Iterator[str]:
    events = [{"logStreamName": "Broker-1", "timestamp": 1, "message": each} for each in _whole(text)]
    yield from json.dumps({"events": events}, indent=4).splitlines()


def insights(text: str) -> Iterator[str]:
    for each in _whole(text):
        yield json.dumps({"@timestamp": "2018-06-23 00:45:38.000", "@message": each})


def compose(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"broker-1  | {line}"


def second_date(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"2018 Jun 23 02:45:39  | {line}"


def own_json(text: str) -> Iterator[str]:
    """Of an application's logger around KafkaJS' own, with a brace too many."""
    for at, found, more in entries(text):
        own = json.dumps({"timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.{found['ms']}Z", "logger": found["logger"]})
        message = f"ERROR {found['message']} {own}"
        told = {"loglevel": "error", "msg": message, **({"stack": "\n".join(more)} if more else {})}
        yield json.dumps(told) + "}"


def logstash(text: str) -> Iterator[str]:
    """With a zone without a colon."""
    for at, found, more in entries(text):
        told = {"@timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.{found['ms']}+0000", "level": found["level"]}
        told |= {"message": found["message"], "logger_name": found["logger"], "stack_trace": "\n".join(more)}
        yield json.dumps(told)


def kubectl_prefix(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"[pod/kafka-0/kafka] {line}"


def coloured(text: str) -> Iterator[str]:
    """After Bitnami's banner."""
    yield "\x1b[38;5;6mkafka \x1b[38;5;5m00:45:00.01 \x1b[0m\x1b[38;5;2mINFO \x1b[0m ==> Welcome"
    for line in text.splitlines():
        yield f"\x1b[32m{line}\x1b[0m"


def coloured_in_docker(text: str) -> Iterator[str]:
    yield from docker("\n".join(coloured(text)))


def strimzi(text: str) -> Iterator[str]:
    for at, found, more in entries(text):
        when = f"{at:%Y-%m-%d %H:%M:%S},{found['ms']}"
        yield f"{when} {found['level']} {found['message']} ({found['logger']}) [kafka-request-handler-0]"
        yield from more


def _whole(text: str) -> list[str]:
    return re.split(r"\n(?=\[)", text.rstrip("\n"))


def entries(text: str) -> Iterator[tuple[datetime, re.Match[str], list[str]]]:
    """Time, parts and further lines of each entry."""
    for lines in re.split(r"\n(?=\[)", text.rstrip("\n")):
        first, *more = lines.split("\n")
        found = ENTRY.fullmatch(first)
        assert found is not None, first
        at = datetime.fromisoformat(f"{found['at']}.{found['ms']}+00:00")
        yield at, found, more


def log4j2(text: str) -> Iterator[str]:
    for at, found, more in entries(text):
        ms = round(at.timestamp() * 1000)
        instant = {"epochSecond": ms // 1000, "nanoOfSecond": ms % 1000 * 1_000_000}
        told: dict[str, Any] = {"instant": instant, "level": found["level"], "loggerName": found["logger"]}
        yield json.dumps({**told, "message": "\n".join([found["message"], *more])})


def ecs(text: str) -> Iterator[str]:
    for at, found, more in entries(text):
        told: dict[str, Any] = {
            "@timestamp": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "message": found["message"],
            "log": {"level": found["level"], "logger": found["logger"]},
        }
        yield json.dumps({**told, **({"error": {"stack_trace": "\n".join(more)}} if more else {})})


def epoch_seconds(text: str) -> Iterator[str]:
    for at, found, more in entries(text):
        yield from (f"{at.timestamp():.3f} {found['level']} {found['message']}", *more)


def epoch_milliseconds(text: str) -> Iterator[str]:
    for at, found, more in entries(text):
        yield from (f"[{at.timestamp() * 1000:.0f}] {found['level']} {found['message']}", *more)


WAYS = (
    *(docker, kubernetes, syslog, log4j2, ecs, epoch_seconds, epoch_milliseconds, cloudwatch, aws_tail),
    *(aws_events, insights, compose, kubectl_prefix, coloured, coloured_in_docker, strimzi),
    *(second_date, own_json, logstash),
)


def said(path: Path) -> list[dict[str, Any]]:
    """Rows but for where they stand: an entry with a stack trace may be one line."""
    return [
        {name: value for name, value in row.items() if name not in ("file", "position", "text")}
        for row in rows(path)
    ]


@pytest.mark.parametrize("wrap", WAYS)
def test_the_rows_of_what_is_inside(wrap: Callable[[str], Iterator[str]], tmp_path: Path) -> None:
    path = tmp_path / "container.log"
    path.write_text("\n".join(wrap(LOG.read_text())) + "\n")
    reader = recognise(path)
    assert reader is not None
    assert reader.name == "broker-log"
    assert said(path) == said(LOG)


def test_of_what_has_no_time_the_container_tells_it(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    message = (
        "Fetch offset 500 is out of range for topic-partition TopicPartition(topic='orders', partition=0)"
    )
    path.write_text(f"{STAMP} stderr F INFO kafka.consumer.fetcher: {message}\n")
    (row,) = rows(path)
    assert (row["kind"], row["topic"], row["offset"]) == ("refused", "orders", 500)
    assert row["time_ms"] == 1529714738000


def test_kafkajs_and_franz_go(tmp_path: Path) -> None:
    path = tmp_path / "node.log"
    place = {"topic": "orders", "partition": 3}
    told = {"level": "ERROR", "timestamp": STAMP, "logger": "kafkajs", **place, "groupId": "billing"}
    told["message"] = "[ConsumerGroup] Offset out of range, resetting to default offset"
    path.write_text(json.dumps(told) + "\n")
    assert [(row["kind"], row["group"], row["topic"], row["partition"]) for row in rows(path)] == [
        ("refused", "billing", "orders", 3),
        ("reset", "billing", "orders", 3),
    ]
    path.write_text(
        "2026-11-23T02:22:55Z [WARN] received OFFSET_OUT_OF_RANGE while consuming; either you were consuming "
        "too slowly; broker: 2, topic: orders, partition: 3, prior_offset: 500\n"
    )
    refused, reset = rows(path)
    assert (refused["offset"], reset["from_offset"], reset["detail"]) == (500, 500, "configured offset")


def test_a_line_that_is_not_wrapped_as_the_others(tmp_path: Path) -> None:
    path = tmp_path / "container.log"
    wrapped = list(docker(LOG.read_text()))
    path.write_text("\n".join([wrapped[0][:40], *wrapped, "[1]", ""]))
    reading = Reading()
    reader = recognise(path)
    assert reader is not None
    bad = [row for row in reader.read(path, reading) if row.kind == "unreadable"]
    assert [(row.position, row.text) for row in bad] == [(1, wrapped[0][:40]), (len(wrapped) + 2, "[1]")]


LINES = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1)


@given(st.lists(LINES, min_size=1), st.sampled_from([docker, kubernetes]))
def test_what_is_inside_comes_out(lines: list[str], wrap: Callable[[str], Iterator[str]]) -> None:
    whole = [each for line in lines for each in wrap(line)]
    inside = wrapping(whole, NOW)
    assert inside is not None
    for line, told in zip(lines, whole, strict=True):
        (plain,) = inside(told)
        assert plain.removesuffix(" ()").endswith(line)


@given(st.text())
def test_any_line_is_taken_or_refused(line: str) -> None:
    inside = wrapping(docker("x"), NOW)
    assert inside is not None
    with suppress(WrongLineError):
        assert all(isinstance(each, str) for each in inside(line))
