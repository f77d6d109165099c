"""Java's client, by the properties that `ctl` prints for it."""

from collections import Counter
from pathlib import Path

import pytest

from mockbroker import MockCluster, Security
from mockbroker.rig.real_tools import Tools

from .. import needs
from ..clients.console import VERSION
from ..driving.processes import mockbroker_process
from ..turns import in_turn

USERS = {"alice": 'sec"r\\et'}
COUNT = 5
SENT = 1500
"""It takes 15 s to send so many: four sessions."""


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("mechanism", in_turn(["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"], 3))
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


@pytest.mark.needs(*needs.JAVA)
def test_java_logs_in_again_while_it_sends(tmp_path: Path) -> None:
    """It does so before its session is over, on the connection on which it sends."""
    security, config = Security(sasl="scram-sha-256", users=USERS), {"connections.max.reauth.ms": "4000"}
    with MockCluster(brokers=1, security=security, config=config, topics={"t": 1}, trace=True) as cluster:
        settings = cluster.client_settings("java")
        lines = (f"{name}={value}\n".replace("\\", "\\\\") for name, value in settings.items())
        again = "retries=100\n"  # a slow machine may miss the end of a session
        (tmp_path / "client.properties").write_text("".join(lines) + again)
        sent = ("--topic", "t", "--max-messages", str(SENT), "--throughput", "100")
        given = (*sent, "--producer.config", "client.properties")
        main = "org.apache.kafka.tools.VerifiableProducer"
        servers = cluster.bootstrap_servers
        out, errors = Tools(VERSION).run(main, "--bootstrap-server", servers, *given, folder=tmp_path)
        assert f'"acked":{SENT}' in out, out + errors
        sending = {event.row()["connection"] for event in cluster.trace.events("answer", api="Produce")}
        logins = Counter(event.row()["connection"] for event in cluster.trace.events("login"))
        assert max(logins[each] for each in sending) > 2, (sending, logins)
