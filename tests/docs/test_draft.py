"""Drafts of messages can be read and written in all versions, whether or not the API is answered."""

import sys
import types

import pytest
from kio.serial import entity_reader

from docs import draft
from mockbroker.protocol import schema, writing
from mockbroker.protocol.api_keys import CODEC_VERSIONS, ApiKey
from tests.protocol.test_schema import filled, readers

MORE = {ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.VOTE, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS}
BY_HAND = {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.SHARE_FETCH}


@pytest.mark.parametrize("key", sorted({*CODEC_VERSIONS, *MORE} - BY_HAND), ids=lambda key: key.name)
def test_a_draft_is_a_model_of_all_versions(key: ApiKey, monkeypatch: pytest.MonkeyPatch) -> None:
    api = key.name.lower()
    module = types.ModuleType("mockbroker.protocol.messages.drafted")
    module.__package__ = "mockbroker.protocol.messages"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(draft.messages(api), module.__dict__)
    for version in schema.versions(api):
        for kind in ("Request", "Response"):
            drafted, theirs = getattr(module, schema.class_name(api) + kind), schema.load(api, version, kind)
            written = bytearray()
            writing.compile_writer(theirs, drafted)(filled(drafted), written)
            entity_reader(theirs)(bytes(written), 0)
            read, _ = readers.__wrapped__(drafted, theirs)
            again = bytearray()
            writing.compile_writer(theirs, drafted)(read(bytes(written), 0), again)
            assert again == written


def test_a_draft_says_which_versions_have_a_field_and_what_entries_are_for() -> None:
    lines = draft.messages("offset_commit").splitlines()
    assert lines[0] == '"""OffsetCommit: api key 8, v0 to v10."""'
    assert "    topic_id: UUID | None = None  # v10+" in lines
    assert "    retention_time_ms: int = -1  # v2-4" in lines
    assert '    partitions: list[OffsetCommitResponsePartition] = places("partition", "partitions")' in lines
