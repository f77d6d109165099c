"""Transactional producers as real brokers from 0.11.0.3 to 4.4.0 answered them.

`measured_transactions.json` has, for each of ten releases, InitProducerId requests in the order in which one
broker was asked, with its answers; and what Produce, Fetch and EndTxn answered around an aborted transaction.
The last stable offset that read_uncommitted readers are told is no part of it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mockbroker.protocol.errors import error_name
from mockbroker.protocol.record_batch import header_of

from ..driving.transactions import Given, TransactionDriver

NOBODY = Given("NONE", -1, -1)
MEASURED = json.loads(Path(__file__).with_name("measured_transactions.json").read_text())


@pytest.mark.parametrize("release", MEASURED)
def test_init_producer_id(release: str) -> None:
    driver = TransactionDriver(release)
    for number, asked in enumerate(MEASURED[release]["init_producer_id"]):
        found = driver.init(
            asked["producer_id"],
            asked["epoch"],
            transactional_id=asked["transactional_id"],
            version=asked["version"],
        )
        assert list(found) == asked["answer"], (number, asked)


class Abort:
    """The steps that the real brokers went through: two records, a transaction of three, two records."""

    def __init__(self, release: str) -> None:
        self.measured = MEASURED[release]
        self.versions = self.measured["versions"]
        self.driver = TransactionDriver(release)
        self.driver.create("t")
        self.driver.create("other")
        self.producer = self.driver.init(version=0)
        assert self.produce("t", 2) == ["NONE", 0]
        assert self.driver.add(self.producer, topic="t", version=0) == {0: "NONE"}
        assert self.produce("t", 3, 0) == ["NONE", 2]
        assert self.produce("t", 2) == ["NONE", 5]

    def produce(
        self, topic: str, count: int, sequence: int | None = None, *, full: bool = False
    ) -> list[Any]:
        """[error, base offset], and the log start offset if all was recorded."""
        inside = sequence is not None
        version = self.versions["produce"]
        asked = self.driver.write_later(
            self.producer if inside else NOBODY,
            -1 if sequence is None else sequence,
            count=count,
            topic=topic,
            transactional=inside,
            version=version,
        )
        only = asked.responses[0].partition_responses[0]
        found = [error_name(only.error_code), only.base_offset]
        return [*found, only.log_start_offset if version >= 5 else None] if full else found

    def check_fetches(self, wanted: list[dict[str, Any]]) -> None:
        for asked in wanted:
            data = self.driver.read(
                asked["offset"], committed=bool(asked["isolation"]), topic="t", version=self.versions["fetch"]
            )
            headers = [header_of(each) for each in data.records or ()]
            aborted = data.aborted_transactions
            if aborted is not None:
                assert {each.producer_id for each in aborted} <= {self.producer.producer_id}
            found = {
                "error": error_name(data.error_code),
                "high_watermark": data.high_watermark,
                "last_stable_offset": data.last_stable_offset,
                "log_start_offset": data.log_start_offset,
                "bytes": sum(map(len, data.records or ())),
                "batches": [[h.base_offset, h.base_offset + h.last_offset_delta] for h in headers],
                "aborted": None if aborted is None else [each.first_offset for each in aborted],
            }
            if "last_stable_offset" not in asked["answer"]:
                del found["last_stable_offset"]
            assert found == asked["answer"], asked


@pytest.mark.parametrize("release", MEASURED)
def test_an_aborted_transaction(release: str) -> None:
    abort = Abort(release)
    measured, driver, producer = abort.measured["transaction"], abort.driver, abort.producer
    end_version = abort.versions["end_txn"]
    abort.check_fetches(measured["fetched_while_open"])
    assert abort.produce("other", 1, 0, full=True) == measured["produce_to_a_partition_not_added"]
    assert driver.end(producer, commit=False, version=end_version).error == "NONE"
    abort.check_fetches(measured["fetched_after_abort"])
    (control,) = driver.read(7, committed=False, topic="t", version=abort.versions["fetch"]).records
    header = header_of(control)
    assert header.producer_id == producer.producer_id
    assert {
        "offsets": [header.base_offset, header.base_offset + header.last_offset_delta],
        "producer_epoch": header.producer_epoch,
        "sequence": header.base_sequence,
        "records": header.record_count,
        "attributes": header.attributes,
    } == measured["control_batch"]
    assert abort.produce("t", 1, 3, full=True) == measured["produce_after_abort"]
    assert driver.init(version=0) == Given("NONE", producer.producer_id, measured["epoch_after_init"])
    assert abort.produce("t", 1, 3, full=True) == measured["produce_of_old_epoch"]
    assert driver.end(producer, commit=True, version=end_version).error == measured["end_txn_of_old_epoch"]
