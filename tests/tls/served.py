"""A mock cluster with the listeners of a story."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mockbroker import MockCluster, Security
from mockbroker.rig import sasl_listener
from mockbroker.rig.certificates import Certificates
from mockbroker.rig.stories import Setting

from ..driving.served import PLAIN, Served

_QUICK: Final = {"connection.failed.authentication.delay.ms": "0"}


class Secure(Served):
    """A `rig.brokers.SecureBrokers`."""

    def __init__(self, release: str, cluster: MockCluster, certificates: Certificates) -> None:
        super().__init__(release, cluster)
        self.certificates = certificates


@contextmanager
def served(release: str, setting: Setting, folder: Path) -> Iterator[Secure]:
    certificates = Certificates(folder)
    security = Security(
        listeners={PLAIN: PLAIN, **setting.listeners},
        sasl=sasl_listener.MECHANISMS,
        users=sasl_listener.USERS,
        certificate=certificates.pem("broker"),
        ca=certificates.pem("ca"),
    )
    sessions: dict[str, str] = {}
    for name, protocol in setting.listeners.items():
        if protocol.startswith("SASL"):
            sessions |= sasl_listener.sessions(name)
    stores: dict[str, str] = {}
    for name, protocol in setting.listeners.items():
        if protocol.endswith("SSL"):
            stores |= certificates.properties(name)
    config = {**sessions, **stores, **_QUICK, **setting.config}
    kafka: Any = ".".join(release.split(".")[:2])
    with MockCluster(kafka=kafka, brokers=1, security=security, config=config) as cluster:
        yield Secure(release, cluster, certificates)
