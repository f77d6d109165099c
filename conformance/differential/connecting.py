"""Clusters that are ready to be asked, with their coordinators where they are wanted."""

import time
from typing import Final

from ...addresses import parted
from ...protocol.primitives import short_uuid
from ...protocol.releases import parse
from ...rig.client import Client
from ...rig.scene import UNKNOWN_TOPIC_ID, Target
from ...rig.setup import BROKER_CONFIG, SHARE_CONFIG, STREAMS_CONFIG
from .coordinating import CLEANED_UP, COORDINATORS
from .waiting import until

_LIMIT_S: Final = 30.0
_AUTHORIZER: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
_CONSUMERS_SINCE: Final = parse("4.0")
_LONG_CONSUMERS: Final = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "300000",
    "group.consumer.max.session.timeout.ms": "300000",
}
_SHARES_SINCE: Final = parse("4.1")
_SHARE_VERSION: Final = "share.version"
_LONG_LOCKS: Final = {
    "group.share.record.lock.duration.ms": "300000",
    "group.share.max.record.lock.duration.ms": "300000",
    "group.share.session.timeout.ms": "300000",
    "group.share.max.session.timeout.ms": "300000",
}
"""A sequence may take its time."""
_STREAMS_SINCE: Final = parse("4.2")
_LONG_SESSIONS: Final = {
    "group.streams.session.timeout.ms": "300000",
    "group.streams.max.session.timeout.ms": "300000",
}


def configured(release: str, *, acls: bool = False) -> dict[str, str]:
    """The configuration of brokers on both sides. Only for `acls` they have an authorizer: with one they give
    other answers, for example of a topic that is not there."""
    authorizer = _AUTHORIZER if acls else {}
    shares = {**SHARE_CONFIG, **_LONG_LOCKS} if parse(release) >= _SHARES_SINCE else {}
    streams = {**STREAMS_CONFIG, **_LONG_SESSIONS} if parse(release) >= _STREAMS_SINCE else {}
    consumers = _LONG_CONSUMERS if parse(release) >= _CONSUMERS_SINCE else {}
    return {**BROKER_CONFIG, **authorizer, **consumers, **shares, **streams}


def connected(bootstrap: str) -> Target:
    """A cluster whose coordinators are ready; where there are several brokers, the first coordinates."""
    if "," in bootstrap:
        _create_internal_topics(bootstrap)
    target = Target.connect(bootstrap, _LIMIT_S)
    for _, host, port in target.nodes:
        await_producer_ids(host, port)
    _, host, port = target.nodes[0]
    await_producer_ids(host, port, "probe")
    if target.supported("share_fetch"):
        with target.client(host, port) as client:
            _share_groups(client)
    return target


def switch_share_groups_on(client: Client) -> None:
    """Which 4.1 has, but not from the start."""
    if _finalized(client) == 0:
        update = {"feature": _SHARE_VERSION, "max_version_level": 1, "upgrade_type": 1}
        client.call("update_features", 1, {"timeout": 10_000, "feature_updates": [update]})


def _share_groups(client: Client) -> None:
    """Switches share groups on, and waits for their coordinators."""
    switch_share_groups_on(client)
    until(lambda: _finalized(client) > 0 and _share_coordinates(client), _LIMIT_S)


def _finalized(client: Client) -> int:
    asked = {"client_software_name": "c", "client_software_version": "1"}
    features = client.call("api_versions", 4, asked)["finalized_features"]
    return sum(each["max_version_level"] for each in features if each["name"] == _SHARE_VERSION)


def _share_coordinates(client: Client) -> bool:
    """The topic of share coordinators is made for the first who looks for one."""
    key = f"probe:{short_uuid(UNKNOWN_TOPIC_ID)}:0"
    asked = {"key_type": 2, "coordinator_keys": [key]}
    [found] = client.call("find_coordinator", 6, asked)["coordinators"]
    part = {"partition": 0, "leader_epoch": 0}
    read = {"group_id": "probe", "topics": [{"topic_id": UNKNOWN_TOPIC_ID, "partitions": [part]}]}
    [state] = client.call("read_share_group_state", 0, read)["results"][0]["partitions"]
    [group] = client.call("share_group_describe", 1, {"group_ids": ["probe"]})["groups"]
    # Nothing was initialized.
    told = found["error_code"], state["error_code"], group["error_code"]
    return told == ("NONE", "INVALID_REQUEST", "GROUP_ID_NOT_FOUND")


def _create_internal_topics(bootstrap: str) -> None:
    """As brokers create them, but led by the first broker: Kafka places them at random."""
    host, port = parted(bootstrap.split(",")[0])
    with Client(host, port, timeout=_LIMIT_S) as client:
        asked = {"topics": [], "allow_auto_topic_creation": False}
        nodes = sorted(each["node_id"] for each in client.call("metadata", 4, asked)["brokers"])
        topics = [
            {
                "name": name,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": nodes}],
                "configs": [{"name": "cleanup.policy", "value": CLEANED_UP[name]}],
            }
            for name in (CLEANED_UP if "share_fetch" in client.api_versions() else COORDINATORS)
        ]
        client.call("create_topics", 5, {"topics": topics, "timeout": 10_000, "validate_only": False})


def await_producer_ids(host: str, port: int, transactional_id: str | None = None) -> None:
    """Each broker gets the first producer ids from the controller once it is asked for one, and answers
    COORDINATOR_LOAD_IN_PROGRESS meanwhile (`RPCProducerIdManager.java`), as while it loads transactions."""
    with Client(host, port, timeout=_LIMIT_S) as client:
        limit = time.monotonic() + _LIMIT_S
        while time.monotonic() < limit:
            if transactional_id is not None:
                client.call("find_coordinator", 1, {"key": transactional_id, "key_type": 1})
            asked = {"transactional_id": transactional_id, "transaction_timeout": 60_000}
            if client.call("init_producer_id", 1, asked)["error_code"] == "NONE":
                return
            time.sleep(0.1)
