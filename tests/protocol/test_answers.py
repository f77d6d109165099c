"""Answers that are read and written again."""

import pytest

from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from mockbroker.protocol.codecs import codec, models_of
from mockbroker.protocol.headers import MalformedRequestError

from .test_schema import filled

ONE_WAY = {
    ApiKey.JOIN_GROUP: 6,
    ApiKey.LEAVE_GROUP: 2,
    ApiKey.STREAMS_GROUP_HEARTBEAT: 99,
}
"""The newest versions whose answers handlers make in another form, which need not be read."""


@pytest.mark.parametrize("key", list(CODEC_VERSIONS), ids=lambda key: key.name)
def test_an_answer_that_was_read_is_written_as_it_was(key: ApiKey) -> None:
    low, high = CODEC_VERSIONS[key]
    for version in range(max(low, ONE_WAY.get(key, -1) + 1), high + 1):
        written = codec(key, version).encode(7, filled(models_of(key)[1]))
        frame = b"".join(written) if isinstance(written, list) else bytes(written)
        found = answer_codec(key, version)
        assert found.encode(7, found.decode(frame[4:])) == frame
    assert high >= 0


def test_an_answer_that_ends_early_is_refused() -> None:
    with pytest.raises(MalformedRequestError, match="an answer of METADATA v9"):
        answer_codec(ApiKey.METADATA, 9).decode(bytes(4) + b"\x00\x00")
