"""Whoever has no ACLs changes nothing, whatever is asked."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.acls.text import read
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.topic import INTERNAL
from mockbroker.conformance.fuzz.modes import Maker, schemas
from mockbroker.conformance.fuzz.values import Known
from mockbroker.security import AUTHORIZER
from mockbroker.server.connection import Connection

from ..driving.cluster import NOW_MS, a_cluster, create
from ..driving.connections import Heard
from ..properties import examples

REQUESTS = 60


def state(cluster: Cluster) -> dict[str, Any]:
    """All that a request may change."""
    configs = cluster.configs
    return {
        "metadata": cluster.controller.image.offset,
        "logs": {
            (each.topic.name, each.index): (each.log.start_offset, each.log.end_offset)
            for each in cluster.partitions()
        },
        "configs": (configs.cluster_wide, configs.per_broker, configs.groups, configs.client_metrics),
        "levels": {broker: dict(each) for broker, each in configs.loggers.items()},
        "groups": [sorted(broker.groups.groups) for broker in cluster.brokers.values()],
        "transactions": [list(broker.transactions) for broker in cluster.brokers.values()],
    }


def asked(seed: int, *acls: str) -> Iterator[Cluster]:
    """The cluster before and after each request of whoever has these ACLs. No handler may fail."""
    make = Maker("schemas", seed, Known(), NOW_MS)
    cluster, heard = a_cluster(make.kafka, brokers=1, authorizer_class_name=AUTHORIZER), Heard()
    for name in ("t0", "t1"):
        create(cluster, name, 2, 1)
    for each in acls:
        for acl in read(each):
            cluster.controller.create_acl(acl)
    yield cluster
    for frame in islice(schemas(make), REQUESTS):
        connection = Connection(cluster, cluster.brokers[1], "client", "/127.0.0.1", heard, lambda _: None)
        connection.receive(memoryview(frame))
        cluster.advance(cluster.now_ms + 10)
        yield cluster
        assert not heard.errors


@given(st.integers(0, 1_000_000))
@settings(max_examples=examples(60), deadline=None)
def test_requests_without_acls_change_nothing(seed: int) -> None:
    clusters = asked(seed)
    before = state(next(clusters))
    for cluster in clusters:
        assert state(cluster) == before


@given(st.integers(0, 1_000_000))
@settings(max_examples=examples(60), deadline=None)
def test_what_is_allowed_in_part_is_answered(seed: int) -> None:
    some = "ANONYMOUS allow all on topic:t0", "ANONYMOUS allow all on group:g0"
    for cluster in asked(seed, *some, "ANONYMOUS allow all on transactional-id:x0"):
        assert cluster.topics.keys() - INTERNAL <= {"t0", "t1"}
        assert all(not each.log.end_offset for each in cluster.partitions() if each.topic.name == "t1")
