"""Values of records by an Avro schema: what the server makes of them, and the page."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import avro.io
import avro.schema
import pytest

from mockbroker import MockCluster
from tests.console.tools import expect
from tests.control.asking import ask

if TYPE_CHECKING:
    from playwright.sync_api import Page

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "what", "type": ["null", "string"]},
        {"name": "mark", "type": "bytes"},
    ],
}
CHAIN = {"type": "record", "name": "C", "fields": [{"name": "next", "type": ["null", "C"]}]}
NOTHINGS = {"type": "array", "items": "null"}
TEA = {"id": 7, "what": "tea <b>", "mark": b"\xff"}
SHOWN = '{"id": 7, "what": "tea <b>", "mark": "ff"}'


def encoded(value: dict[str, Any]) -> bytes:
    data = io.BytesIO()
    avro.io.DatumWriter(avro.schema.parse(json.dumps(ORDER))).write(value, avro.io.BinaryEncoder(data))
    return data.getvalue()


def decoded(cluster: MockCluster, schema: object, **given: object) -> tuple[int, Any]:
    place = {"topic": "orders", "partition": 0, "offset": 0, "limit": 50, **given}
    return ask("POST", f"{cluster.control_url}/records/avro", {"schema": schema, **place})


def test_values_are_told_as_json(cluster: MockCluster) -> None:
    for value in (
        encoded(TEA),
        b"\0\0\0\0\1" + encoded(TEA),
        None,
        encoded(TEA) + b"x",
        b"\x0e",
        bytes(40_000),
    ):
        cluster.produce("orders", value, partition=0)
    status, told = decoded(cluster, ORDER)
    assert status == 200
    assert [each["offset"] for each in told] == [*range(6)]
    assert [each.get("value") for each in told[:3]] == [SHOWN, SHOWN, None]
    assert "1 bytes are left" in told[3]["error"]
    assert "not by this schema" in told[4]["error"]
    assert "40000 bytes" in told[5]["error"]
    assert [each["offset"] for each in decoded(cluster, ORDER, offset=1, limit=2)[1]] == [1, 2]


@pytest.mark.parametrize(
    ("schema", "value"),
    [(NOTHINGS, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\0"), (CHAIN, b"\2" * 30_000), ("string", b"\xff" * 9)],
    ids=["nothings", "chain", "long"],
)
def test_what_a_client_wrote_on_purpose_is_no_more_than_wrong(
    cluster: MockCluster, schema: object, value: bytes
) -> None:
    cluster.produce("orders", value, partition=0)
    status, [told] = decoded(cluster, schema)
    assert (status, "not by this schema" in told["error"]) == (200, True)


@pytest.mark.parametrize("schema", [None, "strin", {"type": "record"}, 7])
def test_what_is_no_schema_is_refused(cluster: MockCluster, schema: object) -> None:
    status, told = decoded(cluster, schema)
    assert (status, "no Avro schema" in told["error"]) == (400, True)


def test_places_that_are_not_there_are_refused(cluster: MockCluster) -> None:
    assert decoded(cluster, ORDER, topic="none")[0] == 404
    assert decoded(cluster, ORDER, partition=9)[0] == 404
    assert decoded(cluster, ORDER, offset="first")[0] == 400


def test_the_page_shows_values_by_a_schema_file(
    cluster: MockCluster, page: Page, complaints: list[str]
) -> None:
    cluster.produce("orders", encoded(TEA), partition=0)
    page.goto(cluster.console_url)
    page.get_by_role("tab", name="Records").click()
    table = page.locator("#view table")
    expect(table.locator("tbody tr")).to_have_count(1)
    picker = page.get_by_label("Avro schema")
    picker.set_input_files({"name": "a.avsc", "mimeType": "text/plain", "buffer": b"{"})
    expect(page.get_by_role("alert")).to_contain_text("not JSON")
    picker.set_input_files({"name": "a.avsc", "mimeType": "text/plain", "buffer": b"7"})
    expect(page.get_by_role("alert")).to_contain_text("no Avro schema")
    picker.set_input_files({"name": "a.avsc", "mimeType": "text/plain", "buffer": json.dumps(ORDER).encode()})
    expect(table).to_contain_text(SHOWN)
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("with").fill("tea")
    expect(table.locator("tbody tr")).to_have_count(1)
    assert "400" in complaints.pop()
