"""Runs a client, then copies the offsets topic into a log segment: `dump.py FOLDER COMMAND...`.

The segment is `FOLDER/__consumer_offsets-0/00000000000000000000.log`, for `mockbroker serve --offsets` and
`mockbroker analyze`. Each record is a batch, at the offset that it had.
"""

import base64
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Final

from mockbroker.protocol.batch_writing import key_values

RECORDS: Final = "/topics/__consumer_offsets/records?partition=0&limit=1000000"


def dump(folder: Path) -> None:
    with urllib.request.urlopen(os.environ["MOCKBROKER_CONTROL"] + RECORDS) as answer:
        records = json.load(answer)
    home = folder / "__consumer_offsets-0"
    home.mkdir(parents=True)
    with (home / f"{0:020}.log").open("wb") as file:
        for record in records:
            key, value = _bytes(record, "key"), _bytes(record, "value")
            assert key is not None
            batch = key_values([(key, value)], record["timestamp_ms"])
            # The checksum of a batch leaves its offset out.
            batch[:8] = record["offset"].to_bytes(8)
            file.write(batch)


def _bytes(record: dict[str, Any], field: str) -> bytes | None:
    text = record[field]
    if text is None:
        return None
    found: bytes = base64.b64decode(text) if record[f"{field}_encoding"] == "base64" else text.encode()
    return found


if __name__ == "__main__":
    subprocess.run(sys.argv[2:], check=True)
    dump(Path(sys.argv[1]))
