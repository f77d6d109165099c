"""KafkaJS takes the settings as they come over HTTP."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from mockbroker import MockCluster, Security
from mockbroker.clients.drivers.shipped import command_for

SECONDS = 60
USERS = {"alice": "secret"}
PROGRAM = """
const { Kafka, Partitioners } = require("kafkajs");
const { settings, value } = JSON.parse(process.argv[1]);
const producer = new Kafka(settings).producer({ createPartitioner: Partitioners.DefaultPartitioner });
producer.connect()
  .then(() => producer.send({ topic: "t", messages: [{ value }] }))
  .then(() => producer.disconnect())
  .catch((error) => { console.error(error); process.exit(1); });
"""


@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize("tls", [False, True], ids=["plaintext", "tls"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_kafkajs_logs_in(mechanism: str, tls: bool) -> None:
    how: dict[str, Any] = {"tls": True, "client_auth": "required"} if tls else {}
    node, driver = command_for("kafkajs")
    security = Security(sasl=mechanism, users=USERS, **how)
    with MockCluster(security=security, topics={"t": 1}, control=True, trace=True) as cluster:
        with urlopen(f"{cluster.control_url}/clients/settings/kafkajs?user=alice", timeout=SECONDS) as answer:
            settings = json.load(answer)
        given = json.dumps({"settings": settings, "value": mechanism})
        environment = {**os.environ, "NODE_PATH": str(Path(driver).parent / "node_modules")}
        command = [node, "-e", PROGRAM, given]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        assert done.returncode == 0, done.stderr
        assert [each.value for each in cluster.records("t")] == [mechanism.encode()]
        assert {event.row()["principal"] for event in cluster.trace.events("login")} == {"User:alice"}
