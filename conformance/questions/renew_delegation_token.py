"""RenewDelegationToken, of brokers that any client may use (KIP-48)."""

from ..registry import Scene, Steps
from .create_delegation_token import with_any_period

_KEY = 39


def any_client_may_connect(s: Scene) -> Steps:
    yield from with_any_period(s, _KEY)
