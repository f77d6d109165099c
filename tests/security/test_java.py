"""Java's client, by the properties that `ctl` prints for it."""

from pathlib import Path

import pytest

from mockbroker import MockCluster, Security
from mockbroker.rig.real_tools import Tools

from .. import needs
from ..clients.console import VERSION
from ..driving.processes import mockbroker_process

USERS = {"alice": 'sec"r\\et'}
COUNT = 5


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_java_shows_a_certificate_and_logs_in(mechanism: str, tmp_path: Path) -> None:
    users = {} if mechanism == "OAUTHBEARER" else USERS
    security = Security(tls=True, client_auth="required", sasl=mechanism, users=users)
    with MockCluster(security=security, topics={"t": 1}, control=True, trace=True) as cluster:
        asked = ("ctl", "--url", cluster.control_url, "clients", "settings", "java", "--user", "alice")
        (tmp_path / "client.properties").write_text(mockbroker_process(*asked).stdout)
        given = ("--topic", "t", "--max-messages", str(COUNT), "--producer.config", "client.properties")
        main = "org.apache.kafka.tools.VerifiableProducer"
        servers = cluster.bootstrap_servers
        out, errors = Tools(VERSION).run(main, "--bootstrap-server", servers, *given, folder=tmp_path)
        assert f'"acked":{COUNT}' in out, out + errors
        assert {event.row()["principal"] for event in cluster.trace.events("login")} == {"User:alice"}
        assert len(cluster.records("t")) == COUNT
