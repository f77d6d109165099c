"""The level of transactions that a cluster has."""

from collections.abc import Mapping

from ..policies import Policies
from ..policies.transactions.epoch_bump import epoch_bump


def transaction_version(policies: Policies, features: Mapping[str, int]) -> int:
    """The level of `transaction.version`, of the finalized `features`: at most 1 unless epochs are bumped per
    transaction; 0 if the release has no such feature (KIP-584, KIP-890)."""
    return min(features.get("transaction.version", 0), 2 if policies[epoch_bump].per_transaction else 1)
