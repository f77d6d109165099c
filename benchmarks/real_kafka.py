"""A real Kafka broker, KRaft; writes its address and the id of its process, then waits to be ended."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Final

from mockbroker.rig.downloads import RealBrokerError
from mockbroker.rig.real_broker import RealCluster

RELEASE: Final = "4.4.0"


class AsShipped(RealCluster):
    """With the JVM options of kafka-server-start.sh and kafka-run-class.sh."""

    jvm = (
        *("-Xms1G", "-Xmx1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
        *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"),
    )


def main() -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        with AsShipped(RELEASE) as cluster:
            sys.stdout.write(f"{cluster.bootstrap_servers} {cluster.pid(1)}\n")
            sys.stdout.flush()
            ended.wait()
    except RealBrokerError as reason:
        raise SystemExit(str(reason)) from None


if __name__ == "__main__":
    main()
