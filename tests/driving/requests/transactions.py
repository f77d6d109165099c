"""Requests of transactional producers, and about them."""

from collections.abc import Iterator
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import (
    add_offsets_to_txn,
    common,
    describe_transactions,
    end_txn,
    init_producer_id,
    list_transactions,
    write_txn_markers,
)

from ..many import BIG, TIMEOUT_MS, Many
from .about import about


@about(ApiKey.INIT_PRODUCER_ID)
def _init_producer_id(many: Many) -> Iterator[Any]:
    for name in many.ids:
        yield init_producer_id.InitProducerIdRequest(name, TIMEOUT_MS)


@about(ApiKey.ADD_PARTITIONS_TO_TXN)
def _add_partitions(many: Many) -> Iterator[Any]:
    many.init_all()
    yield many.add(BIG, [(name, 0) for name in many.topics])
    for name in many.ids:
        yield many.add(name, [(BIG, 0)])


@about(ApiKey.ADD_OFFSETS_TO_TXN)
def _add_offsets(many: Many) -> Iterator[Any]:
    many.init_all()
    for name, group in zip(many.ids, many.groups, strict=True):
        yield add_offsets_to_txn.AddOffsetsToTxnRequest(name, many.producers[name], 0, group)


@about(ApiKey.TXN_OFFSET_COMMIT)
def _txn_offset_commit(many: Many) -> Iterator[Any]:
    many.init_all()
    yield many.commit_in_transaction(BIG, BIG, many.n)
    for name, group in zip(many.ids, many.groups, strict=True):
        yield many.commit_in_transaction(name, group, 1)


@about(ApiKey.END_TXN)
def _end_txn(many: Many) -> Iterator[Any]:
    many.open_all()
    for name, group in zip(many.ids, many.groups, strict=True):
        many.send(many.commit_in_transaction(name, group, 1))
    for index, name in enumerate([*many.ids, BIG]):
        yield end_txn.EndTxnRequest(name, many.producers[name], 0, bool(index % 2))


@about(ApiKey.WRITE_TXN_MARKERS)
def _write_txn_markers(many: Many) -> Iterator[Any]:
    topics = [common.NamePartitionIndexes(BIG, [0])]
    markers = [write_txn_markers.WritableTxnMarker(i, 0, False, topics) for i in range(many.n)]
    yield write_txn_markers.WriteTxnMarkersRequest(markers)


@about(ApiKey.DESCRIBE_TRANSACTIONS)
def _describe_transactions(many: Many) -> Iterator[Any]:
    many.open_all()
    yield describe_transactions.DescribeTransactionsRequest([*many.ids, BIG])


@about(ApiKey.LIST_TRANSACTIONS)
def _list_transactions(many: Many) -> Iterator[Any]:
    many.open_all()
    yield list_transactions.ListTransactionsRequest()
    everybody = list(many.producers.values())
    yield list_transactions.ListTransactionsRequest(["Ongoing", "Empty"], everybody)
