"""`mockbroker serve --log json`: a line of JSON for each thing that happens."""

import json
import time
from typing import TYPE_CHECKING, Any

from ..repeats import PRINTED, Repeats
from ..server.troubles import Troubles
from ..version import CONTRACT, __version__
from .serve import CLIENTS, illegal, restored, software, write

if TYPE_CHECKING:
    from ..server.observer import ClientConnection
    from ..server.serving import ServedCluster


class JsonReport(Troubles):
    """As `Report`; events that are alike are counted, see `Repeats`."""

    def __init__(self) -> None:
        super().__init__(self._happened)
        self._repeats = Repeats(self._repeated)

    def ready(self, served: "ServedCluster", seconds: float) -> None:
        cluster = served.cluster
        _write(
            "serving",
            contract=CONTRACT,
            version=__version__,
            bootstrap_servers=served.bootstrap_servers,
            listeners=served.listeners,
            kafka=str(cluster.release),
            brokers=len(cluster.brokers),
            cluster_id=cluster.cluster_id,
            control_url=served.control_url,
            console_url=served.console_url,
            seconds=round(seconds, 3),
            **_secured(served),
            **restored(served),
        )
        for name, fault in illegal(served):
            _write("illegal fault", name=name, fault=str(fault), why=fault.illegal)

    def identified(self, connection: "ClientConnection") -> None:
        self._of(connection, "client", client_id=connection.client_id, software=software(connection))

    def disconnected(self, connection: "ClientConnection") -> None:
        self._of(connection, "disconnected")

    def sum_up(self) -> None:
        self._repeats.sum_up()

    def _happened(self, event: dict[str, Any]) -> None:
        reason = event.get("reason", "")
        if self._repeats.is_new(event["event"], reason, PRINTED if reason else CLIENTS):
            _write(**event)

    def _repeated(self, subject: str, line: str, count: int, seconds: float) -> None:
        _write("repeated", of=subject, reason=line, count=count, seconds=round(seconds, 3))


def _secured(served: "ServedCluster") -> dict[str, Any]:
    """Its listeners and files; nothing without security."""
    if served.secured is None:
        return {}
    files = served.secured.files
    paths = {} if files is None else {name: str(path) for name, path in vars(files).items() if path}
    if (jwks := served.secured.jwks) is not None:
        paths["jwks"] = str(jwks)
    return {"protocols": served.options.listeners, "files": paths}


def _write(event: str, **values: Any) -> None:
    write(json.dumps({"event": event, "time": round(time.time(), 3), **values}))
