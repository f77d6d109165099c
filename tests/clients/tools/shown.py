"""What is printed, without what differs from one cluster or run to the next."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SHORT = re.compile(
    r"(?<=TopicId: )[\w-]{22}|(?<=directoryId\": \")[\w-]{22}"
    r"|(?<=^\d  )(?!A{22})[\w-]{22}(?=  \d)|[\w+/-]{22}(?= +/)"
)
"""A topic id, a directory id, or a member id that librdkafka made, in front of the host."""
TIME_OF_DAY = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{1,9}Z?")
MINUTE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?![:\d])")
HMAC = re.compile(r"[\w+/]{86}==")
TOKEN = re.compile(r"(?<=tokenId : )\S{22}|(?<=^  )\S{22}(?= +<hmac>)")
"""A delegation token's id, in what it says of a new one, and in a table."""
MILLISECONDS = re.compile(r"\b\d{13}\b")
VARYING = (
    (re.compile(r"(tries=|after )\d+"), r"\1<n>"),
    (re.compile(r"(  600000  <now>  )\d+"), r"\1<ms>"),
    (re.compile(r'("avg_throughput":)[\d.]+'), r"\1<n>"),
    (re.compile(r"(  Epoch: |HighWatermark:  |MaxFollowerLag:  |MaxFollowerLagTimeMs:  )\d+"), r"\1<n>"),
    (re.compile(r"(  \d  (?:A{22}|<id>)  )\d+  \d+"), r"\1<offset>  <lag>"),
    (re.compile(r"CONTROLLER://[^\"]*"), "CONTROLLER://<address>"),
    (re.compile(r" \(controller\)"), ""),
    (re.compile(r'("name":"offsets_acknowledged".*"offsets":)\[[\d,]+\]'), r"\1[<in any order>]"),
    (re.compile(r"Request Request\(.*\) needs"), "Request <request> needs"),
    (re.compile(r"(from broker )\d: <broker \d>/\d"), r"\1<any>"),
    (re.compile(r'"originating_broker":{.*?},|"controllerid":\d,'), ""),
)
"""How long it took, how far the metadata log is, which broker answered: the first that did. The controller is
one of them, by chance."""
FOLDER = re.compile(r"/tmp/kafka-[\w./-]+")
NEAR_MS = 15 * 60 * 1000
SPACES = re.compile(r"(?<=\S) {2,}")
FRAME = re.compile(r"..\t(at |\.\.\. \d+ more)")


def shown(lines: list[str], addresses: Sequence[str], cluster_id: str) -> list[str]:
    """Lines without stack frames, and those that are not blank; `addresses` are those of brokers."""
    found = [_line(line, addresses, cluster_id) for line in lines if not FRAME.match(line)]
    return [line for line in found if line[1:].strip()]


def _line(line: str, addresses: Sequence[str], cluster_id: str) -> str:
    for number, address in enumerate(addresses, 1):
        port = address.rpartition(":")[2]
        line = re.sub(rf"\b{port}\b", f"<port {number}>", line.replace(address, f"<broker {number}>"))
    line = line.replace(cluster_id, "<cluster id>")
    line = UUID.sub("<uuid>", line)
    line = TIME_OF_DAY.sub("<time>", line)
    line = TOKEN.sub("<token>", HMAC.sub("<hmac>", MINUTE.sub("<minute>", line)))
    line = MILLISECONDS.sub(_near, line)
    line = FOLDER.sub("<folder>", line)
    line = line[:2] + SHORT.sub("<id>", SPACES.sub("  ", line[2:].replace("\t", "    ")))
    for pattern, shown_as in VARYING:
        line = pattern.sub(shown_as, line)
    return line.rstrip()


def _near(match: re.Match[str]) -> str:
    return "<now>" if abs(int(match[0]) - time.time() * 1000) < NEAR_MS else match[0]
