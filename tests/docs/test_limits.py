"""Each number on the page on limits is the one in the code, and each configuration there has that default."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from docs.generate import REFERENCE
from mockbroker import repeats
from mockbroker.cluster import call, client_telemetry, fetch_sessions, notes
from mockbroker.control import avro_values, bodies, clusters, history, lines, oauth, records, serving, stream
from mockbroker.controller import scram, topic_creation, topic_names
from mockbroker.coordinators.streams import configuring, requests
from mockbroker.environment import Environment
from mockbroker.protocol import headers, primitives, reading, record_batch
from mockbroker.protocol.releases import NEWEST, parse
from mockbroker.sasl import jwks
from mockbroker.seeded import streams
from mockbroker.server import frames, keystores, reporting
from mockbroker.trace import exchanges, kept, plain, recorder

PAGE: Final = REFERENCE.parent / "limits.md"
UNITS: Final = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20}


class Row(NamedTuple):
    what: str
    limit: str
    configurations: list[str]

    @property
    def number(self) -> int:
        value, _, unit = self.limit.partition(" ")
        return int(value.replace(",", "")) * UNITS[unit]


IN_CODE: Final = {
    "bytes of a request": headers.MAX_FRAME_BYTES,
    "entries in the arrays of a request, all together": reading.MAX_ENTRIES,
    "unknown tagged fields in a request's header, or in one place of a Produce": primitives.MOST_TAGS,
    "bytes of a text": primitives.MOST_TEXT,
    "bytes as which an entry of an answer counts while it is made": call.LEAST_BYTES,
    "bytes that are not sent yet": frames.UNSENT_BYTES,
    "bytes that wait behind a request which is not answered yet": frames.BACKLOG_BYTES,
    "the most that this can be set to": primitives.MOST_DECOMPRESSED,
    "records in a batch, or messages of magic 0 and 1 that become one": record_batch.MAX_RECORDS,
    "letters of a topic's name": topic_names._LONGEST,
    "partitions and other changes of one CreateTopics or CreatePartitions": topic_creation.MAX_RECORDS,
    "partitions in the fetch sessions of a broker, all together": fetch_sessions.MOST_PARTITIONS,
    "subtopologies, topics and groups of topics in the topology of a streams group": requests.MOST_NAMES,
    "tasks of a streams group, without copies": configuring.MOST_TASKS,
    "partitions of the internal topics that one heartbeat has created": (
        topic_creation.MAX_PARTITIONS_PER_REQUEST
    ),
    "iterations of a SCRAM credential": scram._MOST_ITERATIONS,
    "bytes of a JWKS file": jwks.MOST_BYTES,
    "keys of a JWKS file": jwks.MOST_KEYS,
    "bytes of a keystore or truststore": keystores.MOST_BYTES,
    "bytes of a form that asks for a token": oauth.MOST_BYTES,
    "clients whose metrics are known": client_telemetry._MOST_KEPT,
    "bytes of a client's last push that can be looked at": client_telemetry._LARGEST_KEPT,
    "bytes of a request's body": bodies.MOST_BYTES,
    "clusters that are lent at once": clusters.MOST,
    "brokers of one of them": clusters.MOST_BROKERS,
    "partitions with which one of them starts": clusters.MOST_PARTITIONS,
    "lines that tell of troubles in one of them": clusters.MOST_LINES,
    "seconds until a request's body has to be there": bodies.SECONDS,
    "seconds that a client may read nothing of its answers (Linux)": serving.UNREAD_S,
    "bytes of a value that the console decodes by an Avro schema": avro_values.MOST_BYTES,
    "events within 0.1 s that a console's page is told": lines.MOST,
    "bytes of the events to which the console can go back, in files": history.MOST_BYTES,
    "parts of a batch whose bytes are shown": records._MOST_PARTS,
    "records listed without `limit`": records._MOST,
    "clients that follow the trace": stream.MOST_STREAMS,
    "events of requests and states that are kept": recorder.KEPT,
    "the same once somebody has asked for the trace": recorder.KEPT_WITH_DETAILS,
    "entries of a request, or of an answer, that are kept": plain.MOST_ENTRIES,
    "names of a request that are kept": exchanges.MOST_NAMES,
    "lines that are alike and printed within 10 seconds": repeats.PRINTED,
    "entries of the large requests and answers among them, all together": kept.MOST_ENTRIES,
    "failures that are kept": reporting.KEPT,
    "notes about clients, for hints, of each kind": notes.KEPT,
}


def rows() -> Iterator[Row]:
    for line in PAGE.read_text().splitlines():
        what, limit, configuration, _ = [*map(str.strip, line.strip("|").split("|")), "", "", ""][:4]
        if line.startswith("|") and what != "what" and not what.startswith("---"):
            yield Row(what, limit, re.findall(r"`([a-z.]+)`", configuration))


def test_the_page_has_every_limit() -> None:
    assert set(IN_CODE) <= {row.what for row in rows()}


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row.what)
def test_a_limit_is_the_one_in_the_code(row: Row) -> None:
    if not row.configurations:
        assert row.number == IN_CODE[row.what]
        return
    environment = Environment(parse(NEWEST), streams(1), config={}, now_ms=0)
    assert environment.configs.broker_int(row.configurations[0]) == row.number
