"""Logins with delegation tokens: the id is the user, the HMAC in base 64 the password (KIP-48)."""

import base64
import hashlib
import hmac

from ..cluster.broker import Broker
from ..controller.delegation_tokens import hmac_of, secret_key
from ..controller.scram import FEWEST_ITERATIONS, HASHES, SALT_BYTES, keys_of
from ..metadata.records import UserScramCredentialRecord
from .scram import Token


def token_of(broker: Broker, mechanism: int, token_id: str) -> Token | None:
    """A token that the broker knows (`DelegationTokenManager.prepareScramCredentials`). Its salt, which is
    random at real brokers, follows from the HMAC: nothing is drawn for a login."""
    found, key = broker.image.delegation_tokens.get(token_id), secret_key(broker.environment.configs)
    if found is None or key is None:
        return None
    proof, name = hmac_of(key, token_id), HASHES[mechanism]
    salt = hmac.digest(proof, name.encode(), "sha256")[:SALT_BYTES].hex().encode()
    salted = hashlib.pbkdf2_hmac(name, base64.b64encode(proof), salt, FEWEST_ITERATIONS)
    keys = keys_of(name, salted)
    credential = UserScramCredentialRecord(token_id, mechanism, salt, *keys, FEWEST_ITERATIONS)
    return Token(found.owner.partition(":")[2], found.expiration_timestamp, credential)
