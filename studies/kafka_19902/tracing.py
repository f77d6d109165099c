"""`python -m studies.kafka_19902.tracing FILE MECHANISM [FIELD=ANSWER...]`: traces one case, with librdkafka.

Names have the file's name in them, so that several traces can be read together.
"""

import json
import sys
from pathlib import Path
from typing import Any

from .. import clients
from ..clients import Commit
from .case import Case
from .lab import Lab
from .mechanisms import MECHANISMS


def main(file: str, key: str, *answers: str) -> None:
    path, case = Path(file), dict(each.split("=", 1) for each in answers)
    client = clients.make("confluent-kafka")
    try:
        with Lab(client, Case(key, Commit.POSITION, **case)) as lab:
            # Bodies are kept from now on.
            trace = lab.cluster.trace
            MECHANISMS[key].run(lab)
            trace.write(path)
    finally:
        client.stop()
    lines = [json.dumps(_renamed(json.loads(line), path.stem)) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{line}\n" for line in lines))


def _renamed(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(inner, name) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, name) for inner in value]
    return (
        {"t": name, "t-0": f"{name}-0", "g": f"group of {name}"}.get(value, value)
        if isinstance(value, str)
        else value
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
