"""Records sessions again, all or those named: `python -m tests.clients.tools [NAME…]`.

Each is played with real brokers of its own, and the file has what commands printed then. Needs java, mvn for
the first run, and kcat for its session. Loopback only.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from mockbroker.rig.real_broker import RealCluster

from ..console import VERSION
from . import session
from .playing import BROKERS, CONFIG, LOGIN, LOGIN_CONFIG, play
from .programs import Programs

SETTLED_S: Final = 0.3


def main() -> None:
    for name in sys.argv[1:] or session.names():
        programs = Programs()
        try:
            login = name.startswith(LOGIN)
            config = CONFIG | LOGIN_CONFIG if login else CONFIG
            with RealCluster(VERSION, BROKERS, config, sasl=login) as cluster:
                servers = cluster.login_servers if login else ()
                text = play(name, cluster, programs, servers, _pause)
                session.path(name).write_text(text)
        finally:
            programs.stop()
        sys.stdout.write(f"recorded {name}\n")


def _pause() -> None:
    """The controller answers before brokers have read what it wrote."""
    time.sleep(SETTLED_S)


if __name__ == "__main__":
    main()
