"""Plays the cases with real brokers and the client of the same release, and keeps how they ended: all,
those named, or only those that have `--changed` since they were played with that release. With `--mock`,
plays them with mock brokers of that release instead, keeps nothing, and compares. Needs java, javac and
mvn; loopback only. The exit status is 1 if a case ended otherwise than with mock brokers of 4.4, or with
`--mock` than with real ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from mockbroker import MockCluster
from mockbroker.addresses import parted
from mockbroker.clients.drivers import building
from mockbroker.cluster_options import unchecked
from mockbroker.conformance.differential.connecting import switch_share_groups_on
from mockbroker.rig.client import Client
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.setup import BROKER_CONFIG, PROCESS_CONFIG, QUICK_CONFIG, SHARE_CONFIG

from . import CONFIG, PROJECT, SETTINGS, Setting, every_case, of, play
from .seen import ported, read, take

_LIMIT_S = 900.0
_READY_S = 30.0
_SEVERAL = 3
_CLIENTS = {"4.1.1": "4.2.0"}
"""The client of a release that can't play the cases: that of 4.1 has no `RENEW`, nor `share.acquire.mode`."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.share_cases", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all cases by default")
    parser.add_argument("--kafka", default="4.4.0", help="release of the brokers and of the client")
    parser.add_argument(
        "--changed", action="store_true", help="only cases that were not seen as they are now"
    )
    parser.add_argument("--mock", action="store_true", help="mock brokers of that release")
    given = parser.parse_args()
    release = str(given.kafka)
    classes = building.class_path(PROJECT, _CLIENTS.get(release, release))
    every = every_case(classes)
    if unknown := set(given.names) - set(every):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    wanted = given.names or every
    if given.changed:
        seen, now = read(), ported()
        wanted = [
            name
            for name in wanted
            if name not in seen or seen[name].digest != now[name] or release not in seen[name].errors
        ]
    if not wanted:
        sys.stdout.write(f"all were seen with {release} as they are now\n")
        return 0
    errors: dict[str, str] = {}
    for title, setting in SETTINGS.items():
        if names := [name for name in of(setting, every) if name in wanted]:
            sys.stdout.write(f"{title}, Kafka {release}: {len(names)} cases\n")
            found = _played(setting, names, classes, release, mock=given.mock)
            if not given.mock:
                take(release, found)
            errors |= found
    if given.mock:
        return _compared(release, errors)
    failed = [name for name, error in errors.items() if error]
    sys.stdout.write(f"{len(errors) - len(failed)} of {len(errors)} ended as they should\n")
    return 1 if failed else 0


def _compared(release: str, errors: Mapping[str, str]) -> int:
    """Whether a case ended otherwise than with real brokers, or in another place."""
    real = {name: each.errors.get(release) for name, each in read().items()}
    others = [name for name, error in errors.items() if _where(error) != _where(real.get(name))]
    for name in others:
        sys.stdout.write(f"{name}\n  real: {real.get(name)}\n  mock: {errors[name]}\n")
    alike = len(errors) - len(others)
    sys.stdout.write(f"{alike} of {len(errors)} ended as with real brokers of {release}\n")
    return 1 if others else 0


def _where(error: str | None) -> str | None:
    return error and error.rpartition(" at ")[2]


def _played(
    setting: Setting, names: Sequence[str], classes: str, release: str, *, mock: bool
) -> dict[str, str]:
    config = {**BROKER_CONFIG, **SHARE_CONFIG, **QUICK_CONFIG, **PROCESS_CONFIG, **CONFIG, **setting.config}
    several = setting.brokers >= _SEVERAL
    if several:
        replicated = ("offsets.topic", "share.coordinator.state.topic", "default")
        config |= {f"{each}.replication.factor": str(setting.brokers) for each in replicated}
    brokers = (
        MockCluster(kafka=unchecked(release), brokers=setting.brokers, config={**CONFIG, **setting.config})
        if mock
        else RealCluster(release, setting.brokers, config, apart=several)
    )
    with brokers as cluster:
        host, port = parted(cluster.bootstrap_servers.split(",")[0])
        with Client(host, port, timeout=_READY_S) as client:
            switch_share_groups_on(client)
        return play(setting, names, classes, cluster, ended=_tell, limit_s=_LIMIT_S).errors


def _tell(name: str, error: str) -> None:
    sys.stdout.write(f"  {name}: {error or 'ok'}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
