"""Checks whether a cluster is set up like the recorded ones, and sets what can be set at run time."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from mockbroker.apis.advertised import advertised
from mockbroker.protocol import releases

from .client import Client, api_keys
from .requests import configure
from .scene import Target
from .setup import BROKER_CONFIG, CLUSTER_SIZES

_BROKER: Final = 4
_DYNAMIC_DEFAULT: Final = 3
_EVERY_BROKER: Final = ""
_MOST_NAMED: Final = 5
_PATIENCE_S: Final = 5.0


def lacking(target: Target, release: str) -> list[str]:
    """What differs from the recorded set-up, one line each. OSError if the cluster can't be asked."""
    found = []
    size = len(target.nodes)
    if size not in CLUSTER_SIZES:
        sizes = " or ".join(map(str, CLUSTER_SIZES))
        found.append(f"it has {size} broker{'s' * (size != 1)}: there are questions for {sizes} brokers")
    if (other := _release(target, release)) is not None:
        found.append(f"its API versions are those of Kafka {other}: compare with --kafka {other}")
    with Client(target.host, target.port, timeout=target.timeout) as client:
        config = configuration(target, client)
        for name, value in BROKER_CONFIG.items():
            if name in config and config[name]["value"] != value:
                found.append(f"{name} is {config[name]['value'] or 'not set'}, and was {value} when recorded")
        found += _topics(target, client)
    return found


def configuration(target: Target, client: Client) -> dict[str, dict[str, Any]]:
    """The first broker's entries of DescribeConfigs for what was set on recorded brokers, by name."""
    if not target.supported("describe_configs"):
        return {}
    asked = {"resource_type": _BROKER, "resource_name": str(target.nodes[0][0])}
    asked |= {"configuration_keys": list(BROKER_CONFIG)}
    answer = client.call("describe_configs", target.newest("describe_configs"), {"resources": [asked]})
    [broker] = answer["results"]
    return {each["name"]: each for each in broker["configs"] or []}


@contextmanager
def set_up(target: Target) -> Iterator[list[str]]:
    """Sets what can be set while brokers run, and undoes it at the end. Gives what was set."""
    before: dict[str, str | None] = {}
    with Client(target.host, target.port, timeout=target.timeout) as client:
        for name, entry in configuration(target, client).items():
            if entry["value"] != BROKER_CONFIG[name] and _alter(target, client, name, BROKER_CONFIG[name]):
                dynamic = entry.get("config_source") == _DYNAMIC_DEFAULT
                before[name] = entry["value"] if dynamic else None
        _await(target, client, list(before))
    try:
        yield [f"{name}={BROKER_CONFIG[name]}" for name in before]
    finally:
        with Client(target.host, target.port, timeout=target.timeout) as client:
            for name, value in before.items():
                _alter(target, client, name, value)


def _await(target: Target, client: Client, names: list[str]) -> None:
    """Real brokers answer before they have read what was set."""
    limit = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit:
        config = configuration(target, client)
        if all(config[name]["value"] == BROKER_CONFIG[name] for name in names):
            return
        time.sleep(0.05)


def _alter(target: Target, client: Client, name: str, value: str | None) -> bool:
    """Sets a cluster-wide default, and says whether that was accepted; None restores what brokers were
    started with."""
    if not target.supported("incremental_alter_configs"):
        return False
    fields = configure(_BROKER, _EVERY_BROKER, {name: value})
    version = target.newest("incremental_alter_configs")
    answer = client.call("incremental_alter_configs", version, fields)
    return bool(answer["responses"][0]["error_code"] == "NONE")


def _release(target: Target, release: str) -> str | None:
    """The release whose API versions are nearest to the cluster's; None if `release` is as near."""
    names = api_keys()

    def apart(name: str) -> int:
        """How many APIs differ from a real broker of that release, or from a mock, whichever is nearer."""
        parsed = releases.parse(name)
        spans = (
            {names[key]: span for key, span in apis.items() if key in names}
            for apis in (releases.facts(parsed).apis, advertised(parsed))
        )
        return min(len(target.versions.items() ^ each.items()) for each in spans)

    asked = ".".join(release.split(".")[:2])
    by_distance = {name: apart(name) for name in releases.names()}
    nearest = min(by_distance.values())
    if asked not in by_distance or by_distance[asked] == nearest:
        return None
    return next(name for name, distance in by_distance.items() if distance == nearest)


def _topics(target: Target, client: Client) -> Iterator[str]:
    fields: Mapping[str, Any] = {"topics": None, "allow_auto_topic_creation": False}
    topics = client.call("metadata", target.newest("metadata"), fields)["topics"]
    if own := [each["name"] for each in topics if not each["is_internal"]]:
        yield f"it already has topics, which will be in answers that list all topics: {_some(own)}"
    for name, prefix in (
        ("__consumer_offsets", "offsets.topic."),
        ("__transaction_state", "transaction.state.log."),
    ):
        for topic in (each for each in topics if each["name"] == name):
            partitions, replicas = len(topic["partitions"]), len(topic["partitions"][0]["replica_nodes"])
            wanted = BROKER_CONFIG[f"{prefix}num.partitions"], BROKER_CONFIG[f"{prefix}replication.factor"]
            if (str(partitions), str(replicas)) != wanted:
                yield (
                    f"{name} has {partitions} partitions with {replicas} replicas, and had {wanted[0]} with "
                    f"{wanted[1]} when recorded: only a new cluster can have that"
                )


def _some(names: list[str]) -> str:
    return ", ".join(sorted(names)[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def options(release: str, brokers: int) -> str:
    """The options that set up `mockbroker serve` like the recorded brokers."""
    config = " ".join(f"--config {name}={value}" for name, value in BROKER_CONFIG.items())
    return f"--kafka {'.'.join(release.split('.')[:2])} --brokers {brokers} {config}"
