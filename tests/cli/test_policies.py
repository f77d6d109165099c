"""`mockbroker policies`."""

import json

from mockbroker.policies import CATALOGUE
from mockbroker.protocol.releases import parse

from ..driving.processes import mockbroker_process


def test_every_behaviour_is_listed_with_the_default_of_the_release() -> None:
    rows = {
        row["name"]: row
        for row in json.loads(mockbroker_process("policies", "--kafka", "2.3", "--json").stdout)
    }
    assert set(rows) == set(CATALOGUE)
    assert rows["unknown-producer"]["default"] == "unknown-producer-id"
    assert rows["undefined-epoch"]["fixed"] == "log-end-offset"
    for name, row in rows.items():
        assert row["default"] == CATALOGUE[name].default(parse("2.3"))


def test_the_table_shows_names_and_answers() -> None:
    done = mockbroker_process("policies")
    assert done.returncode == 0
    assert "undefined-epoch" in done.stdout
    assert "KAFKA-19902" in done.stdout


def test_an_unknown_release_is_one_line() -> None:
    done = mockbroker_process("policies", "--kafka", "1.7")
    assert done.returncode == 2
    assert done.stderr.startswith("mockbroker policies: no Kafka release '1.7'")
