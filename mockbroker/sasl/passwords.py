"""What users log in with: passwords for PLAIN, which brokers have in their configuration, and SCRAM's
credentials, which are metadata."""

from typing import Final

from ..cluster.cluster import Cluster
from ..controller.scram import FEWEST_ITERATIONS, HASHES, NUMBERS, SALT_BYTES, Deletion, Upsertion

_ENABLED: Final = "sasl.enabled.mechanisms"
_PLAIN: Final = "PLAIN"
_NAMES: Final = {number: mechanism for mechanism, number in NUMBERS.items()}


def mechanisms(cluster: Cluster) -> list[str]:
    """Those by which users log in with a password."""
    enabled = cluster.environment.configs.static.get(_ENABLED, "").split(",")
    return [each for each in enabled if each == _PLAIN or each in NUMBERS]


def users(cluster: Cluster) -> dict[str, list[str]]:
    """By user, the mechanisms for which there is a password."""
    enabled = mechanisms(cluster)
    found = {user: [_PLAIN] if _PLAIN in enabled else [] for user in cluster.passwords}
    for user, credentials in cluster.controller.image.scram_credentials.items():
        found.setdefault(user, []).extend(map(_NAMES.__getitem__, credentials))
    return found


def set_password(cluster: Cluster, user: str, password: str) -> None:
    """For each mechanism that is enabled. ApiError."""
    import hashlib

    cluster.passwords[user] = password
    salts = cluster.environment.random("scram salts")
    for mechanism in mechanisms(cluster):
        if mechanism not in NUMBERS:
            continue
        number, salt = NUMBERS[mechanism], salts.randbytes(SALT_BYTES)
        salted = hashlib.pbkdf2_hmac(HASHES[number], password.encode(), salt, FEWEST_ITERATIONS)
        cluster.controller.alter_scram_credential(Upsertion(user, number, FEWEST_ITERATIONS, salt, salted))


def remove_user(cluster: Cluster, user: str) -> None:
    """Removes all that the user could log in with."""
    cluster.passwords.pop(user, None)
    for number in list(cluster.controller.image.scram_credentials.get(user, ())):
        cluster.controller.alter_scram_credential(Deletion(user, number))
