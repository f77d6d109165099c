"""Tests of `tests/clients` with real brokers: `python -m tests.proxy.through [--tls] [PYTEST'S ARGUMENTS]`.

Three brokers of 4.4.0 are started, and a proxy before them, which is what the tests have for a cluster. With
`--tls` the proxy speaks TLS to the brokers. What it told is printed at the end. The exit status is pytest's.
"""

from __future__ import annotations

import os
import subprocess
import sys

from rich.console import Console

from mockbroker import MockProxy
from mockbroker.addresses import joined
from mockbroker.rig.real_broker import RealCluster

RELEASE = "4.4.0"
LISTENER = "TLS"


def main(arguments: list[str]) -> int:
    tls = "--tls" in arguments
    with RealCluster(RELEASE, brokers=3, listeners={LISTENER: "SSL"} if tls else {}) as cluster:
        servers = joined(*cluster.address(LISTENER)) if tls else cluster.bootstrap_servers
        with MockProxy(servers, upstream_ca=cluster.certificates.pem("ca") if tls else None) as proxy:
            environment = {**os.environ, "MOCKBROKER_TEST_BOOTSTRAP": proxy.bootstrap_servers}
            words = [each for each in arguments if each != "--tls"]
            done = subprocess.run([sys.executable, "-m", "pytest", *words], env=environment, check=False)
            Console(highlight=False, markup=False).print(*proxy.lines, sep="\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
