"""Answers as a client reads them: bytes -> model, and back."""

import functools
from typing import Any, Final

from . import reading, schema, writing
from .api_keys import ApiKey
from .codecs import codec, models_of
from .headers import MalformedRequestError, skip_tags
from .messages.add_partitions_to_txn import AddPartitionsToTxnResult
from .messages.find_coordinator import Coordinator
from .messages.offset_fetch import OffsetFetchResponseGroup
from .primitives import FrameBuffer

_CORRELATION_ID: Final = 4
_ONE_COORDINATOR: Final = 3
"""The newest FindCoordinator whose answer has one coordinator (KIP-699)."""
_ONE_GROUP: Final = 7
"""The newest OffsetFetch whose answer has one group (KIP-709)."""
_ONE_TRANSACTION: Final = 3
"""The newest AddPartitionsToTxn whose answer is about one transaction (KIP-890)."""


class AnswerCodec:
    """Reads and writes the answers of one API version."""

    def __init__(self, api_key: int, version: int) -> None:
        known = codec(api_key, version)
        self.api_key, self.version = known.api_key, version
        theirs = schema.load(known.api_key.name.lower(), version, "Response")
        ours = models_of(known.api_key)[1]
        self._tagged = schema.flexible(theirs) and known.api_key is not ApiKey.API_VERSIONS
        self._downgrade = known.downgrade
        self._read = reading.compile_reader(theirs, ours)
        self._write = writing.compile_writer(theirs, ours)

    def decode(self, frame: bytes) -> Any:
        """The answer in a frame without its length. MalformedRequestError if it can't be read."""
        try:
            offset = skip_tags(frame, _CORRELATION_ID) if self._tagged else _CORRELATION_ID
            answer = self._read(frame, offset)
        except reading.READ_ERRORS as error:
            raise MalformedRequestError(
                f"an answer of {self.api_key.name} v{self.version}: {error}"
            ) from error
        return _as_handlers_have_it(self.api_key, self.version, answer)

    def encode(self, correlation_id: int, answer: Any) -> bytes:
        """The frame with its length. ValueError for what this version can't say."""
        if self._downgrade is not None:
            answer = self._downgrade(answer, self.version)
        out = FrameBuffer(9 if self._tagged else 8)
        self._write(answer, out)
        data = b"".join(out.buffers())
        return (len(data) - 4).to_bytes(4) + correlation_id.to_bytes(4, signed=True) + data[8:]


def _as_handlers_have_it(api: ApiKey, version: int, answer: Any) -> Any:
    """Records are lists of buffers; the only coordinator, group or transaction of an old version is a list of
    one."""
    if api in (ApiKey.FETCH, ApiKey.SHARE_FETCH):
        for topic in answer.responses:
            for partition in topic.partitions:
                if partition.records is not None:
                    partition.records = [partition.records]
    elif api is ApiKey.FIND_COORDINATOR and version <= _ONE_COORDINATOR:
        only = Coordinator(
            "", answer.node_id, answer.host, answer.port, answer.error_code, answer.error_message
        )
        answer.coordinators = [only]
    elif api is ApiKey.OFFSET_FETCH and version <= _ONE_GROUP:
        answer.groups = [OffsetFetchResponseGroup("", answer.topics, answer.error_code)]
    elif api is ApiKey.ADD_PARTITIONS_TO_TXN and version <= _ONE_TRANSACTION:
        answer.results_by_transaction = [AddPartitionsToTxnResult("", answer.results_by_topic_v3_and_below)]
    return answer


@functools.cache
def answer_codec(api_key: int, version: int) -> AnswerCodec:
    """UnsupportedVersionError if there is none."""
    return AnswerCodec(api_key, version)
