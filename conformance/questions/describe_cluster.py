"""DescribeCluster: KIP-700, KIP-919 (endpoint types), KIP-1073 (fenced brokers)."""

from ..registry import Scene, Steps, question


def brokers(s: Scene) -> Steps:
    yield "plain", s.ask(endpoint_type=1)
    yield "authorized operations", s.ask(endpoint_type=1, include_cluster_authorized_operations=True)


@question(since=1)
def endpoint_types(s: Scene) -> Steps:
    """1 is brokers, 2 controllers."""
    for endpoint in (0, 2, 3, -1):
        yield f"type {endpoint}", s.ask(endpoint_type=endpoint)


@question(since=2)
def fenced_brokers(s: Scene) -> Steps:
    yield "included", s.ask(endpoint_type=1, include_fenced_brokers=True)


@question(brokers=3)
def three_brokers(s: Scene) -> Steps:
    yield "plain", s.ask(endpoint_type=1)
