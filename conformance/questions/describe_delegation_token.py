"""DescribeDelegationToken, of brokers that any client may use (KIP-48)."""

from ..registry import Scene, Steps


def any_client_may_connect(s: Scene) -> Steps:
    yield "all", s.ask(owners=None)
    yield "of nobody", s.ask(owners=[])
    owners = [{"principal_type": "User", "principal_name": name} for name in ("alice", "bob")]
    yield "of two", s.ask(owners=owners)
