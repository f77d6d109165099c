"""Record batches from their description in a step."""

import struct
from typing import Any

from crc32c import crc32c

from ...rig import batches

_OVERRIDES = (
    "producer_id",
    "producer_epoch",
    "sequence",
    "codec",
    "attributes",
    "base_offset",
    "partition_leader_epoch",
    "magic",
    "count",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "length_error",
    "bad_crc",
)


def record_bytes(described: list[dict[str, Any]]) -> bytes:
    """The bytes of several batches one after the other; every placeholder in them is filled in.

    A description has `kind` "batch" (magic 2), "messages" (magic 0 or 1) or "bytes".
    """
    return b"".join(_one(each) for each in described)


def _one(described: dict[str, Any]) -> bytes:
    kind = described.get("kind", "batch")
    if kind == "bytes":
        return bytes.fromhex(described["hex"])
    items = [_record(each) for each in described["records"]]
    if kind == "messages":
        return batches.message_set(
            items,
            magic=described.get("magic", 1),
            codec=described.get("codec", 0),
            bad_crc=described.get("bad_crc", False),
        )
    named = {key: described[key] for key in _OVERRIDES if key in described}
    made = bytearray(batches.batch(items, **named, extra=bytes.fromhex(described.get("extra", ""))))
    if described.get("codec_bits") is not None:
        made[22] = made[22] & ~7 | described["codec_bits"]
    for at, value in described.get("poke", ()):
        made[min(61 + at, len(made) - 1)] = value
    if described.get("poke") or described.get("codec_bits") is not None:
        struct.pack_into(">I", made, 17, crc32c(bytes(made[21:])))
    cut = described.get("cut", 0)
    return bytes(made[: len(made) - cut]) if cut else bytes(made)


def _record(described: dict[str, Any]) -> batches.Record:
    key, value = described.get("key"), described.get("value", "v")
    return batches.Record(
        value=None if value is None else value.encode(),
        key=None if key is None else key.encode(),
        timestamp=described.get("time", batches.OLD),
        delta=described.get("delta"),
        headers=tuple((name, None if v is None else v.encode()) for name, v in described.get("headers", ())),
    )
