"""Plays the cases with real brokers and the client of the same release, and keeps how they ended: all,
those named, or only those that have `--changed` since they were played with that release. Needs java, javac
and mvn; loopback only. The exit status is 1 if a case ended otherwise than with mock brokers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mockbroker.clients.drivers import building
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.setup import BROKER_CONFIG, PROCESS_CONFIG, QUICK_CONFIG, SHARE_CONFIG

from . import CONFIG, PROJECT, SETTINGS, Setting, every_case, of, play
from .seen import ported, read, take

_LIMIT_S = 900.0
_SEVERAL = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clients.share_cases", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all cases by default")
    parser.add_argument("--kafka", default="4.4.0", help="release of the brokers and of the client")
    parser.add_argument(
        "--changed", action="store_true", help="only cases that were not seen as they are now"
    )
    given = parser.parse_args()
    release = str(given.kafka)
    classes = building.class_path(PROJECT, release)
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
            found = _played(setting, names, classes, release)
            take(release, found)
            errors |= found
    failed = [name for name, error in errors.items() if error]
    sys.stdout.write(f"{len(errors) - len(failed)} of {len(errors)} ended as they should\n")
    return 1 if failed else 0


def _played(setting: Setting, names: Sequence[str], classes: str, release: str) -> dict[str, str]:
    config = {**BROKER_CONFIG, **SHARE_CONFIG, **QUICK_CONFIG, **PROCESS_CONFIG, **CONFIG, **setting.config}
    several = setting.brokers >= _SEVERAL
    if several:
        replicated = ("offsets.topic", "share.coordinator.state.topic", "default")
        config |= {f"{each}.replication.factor": str(setting.brokers) for each in replicated}
    with RealCluster(release, setting.brokers, config, apart=several) as cluster:
        return play(setting, names, classes, cluster, ended=_tell, limit_s=_LIMIT_S).errors


def _tell(name: str, error: str) -> None:
    sys.stdout.write(f"  {name}: {error or 'ok'}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
