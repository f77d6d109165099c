"""Tokens are records of the metadata log."""

import hashlib
import hmac

from mockbroker.cluster.cluster import Cluster
from mockbroker.controller.delegation_tokens import hmac_of
from mockbroker.sasl.tokens import token_of

from ..driving.cluster import configured

KEY = "a secret key"
HOUR_MS = 3_600_000
SHA_256 = 1


def a_cluster(brokers: int = 1, **more: str) -> Cluster:
    return configured("4.4", brokers, None, {"delegation.token.secret.key": KEY, **more})


def test_the_hmac_is_kafkas() -> None:
    assert hmac_of(KEY.encode(), "an id") == hmac.new(KEY.encode(), b"an id", hashlib.sha512).digest()


def test_a_broker_learns_of_them_late() -> None:
    cluster = a_cluster(2)
    cluster.slow_metadata(2, 1000)
    one, late = cluster.brokers[1], cluster.brokers[2]
    tokens = cluster.controller.tokens
    token = tokens.create("User:alice", "User:alice", [], -1)
    assert token_of(one, SHA_256, token.token_id) is not None
    assert token_of(late, SHA_256, token.token_id) is None
    cluster.advance(cluster.now_ms + 1000)
    assert token_of(late, SHA_256, token.token_id) is not None
    tokens.expire("User:alice", hmac_of(KEY.encode(), token.token_id), -1)
    assert token_of(one, SHA_256, token.token_id) is None
    assert token_of(late, SHA_256, token.token_id) is not None


def test_tokens_that_are_over_are_removed_at_fixed_times() -> None:
    cluster = a_cluster()
    began_ms = cluster.now_ms
    cluster.advance(began_ms + 1_000)
    tokens = cluster.controller.tokens
    first = tokens.create("User:alice", "User:alice", [], 10_000)
    stays = tokens.create("User:alice", "User:alice", [], -1)
    known = cluster.controller.image.delegation_tokens
    cluster.advance(began_ms + HOUR_MS - 1)
    assert set(known) == {first.token_id, stays.token_id}
    cluster.advance(began_ms + HOUR_MS)
    assert set(known) == {stays.token_id}
    cluster.advance(began_ms + 25 * HOUR_MS)
    assert not known
    assert cluster.next_deadline() is None or cluster.next_deadline() != began_ms + 26 * HOUR_MS


def test_many_that_are_over_are_removed_in_portions() -> None:
    cluster = a_cluster()
    for _ in range(2_500):
        cluster.controller.tokens.create("User:alice", "User:alice", [], 1_000)
    cluster.advance(cluster.now_ms + HOUR_MS)
    assert not cluster.controller.image.delegation_tokens
