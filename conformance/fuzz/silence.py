"""Which requests real brokers never answer, so that no other may be left without an answer."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from ...cluster.call import Call
from ...protocol.codecs import Codec
from ...protocol.messages.alter_configs import AlterConfigsRequest
from ...protocol.messages.offset_fetch import OffsetFetchRequest
from ...protocol.messages.produce import ProduceRequest
from ...protocol.messages.write_txn_markers import WritableTxnMarker, WriteTxnMarkersRequest
from ...protocol.primitives import MOST_TEXT
from ...server.connection import Connection


class JudgedConnection(Connection):
    """`unanswered` is the API of a request that the broker never answers, though real ones do."""

    __slots__ = ("unanswered",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.unanswered = ""

    def _deliver(self, found: Codec, correlation_id: int, call: Call, request: Any, answer: Any) -> bool:
        owed = not self.owes_nothing
        sent = super()._deliver(found, correlation_id, call, request, answer)
        if owed and self.owes_nothing and not _never_answered(request):
            self.unanswered = found.api_key.name
        return sent


def _never_answered(request: Any) -> bool:
    """Real brokers do not answer Produce with null records, OffsetFetch of no groups, a marker that names a
    partition twice, AlterConfigs that names a resource twice, nor a request with a text that is too long for
    an answer."""
    if any(len(text.encode()) > MOST_TEXT for text in _texts(request)):
        return True
    match request:
        case ProduceRequest():
            return any(each.records is None for topic in request.topic_data for each in topic.partition_data)
        case OffsetFetchRequest():
            return not request.groups
        case AlterConfigsRequest():
            named = [(each.resource_type, each.resource_name) for each in request.resources]
            return len(set(named)) < len(named)
        case WriteTxnMarkersRequest():
            return any(_repeats(marker) for marker in request.markers)
        case _:
            return False


def _repeats(marker: WritableTxnMarker) -> bool:
    named = [(topic.name, index) for topic in marker.topics for index in topic.partition_indexes]
    return len(set(named)) < len(named)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from _texts(getattr(value, each.name))
