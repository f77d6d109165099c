"""What users log in with by SCRAM: whether it may be set, and the records that set it
(`ScramControlManager.java`)."""

from typing import Final, NamedTuple

from ..metadata.image import MetadataImage
from ..metadata.records import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..security import SCRAM

NUMBERS: Final = {mechanism: number for number, mechanism in enumerate(SCRAM, start=1)}
"""Of the mechanisms in credentials (`ScramMechanism.java`)."""
HASHES: Final = {1: "sha256", 2: "sha512"}
"""By number."""

FEWEST_ITERATIONS: Final = 4096
SALT_BYTES: Final = 16
"""Of a salt that is drawn here."""
_MOST_ITERATIONS: Final = 16384

ScramRecord = UserScramCredentialRecord | RemoveUserScramCredentialRecord


class Deletion(NamedTuple):
    user: str
    mechanism: int


class Upsertion(NamedTuple):
    user: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes


def record(image: MetadataImage, asked: Deletion | Upsertion) -> ScramRecord:
    """The record to write. ApiError."""
    check(image, asked)
    if isinstance(asked, Deletion):
        return RemoveUserScramCredentialRecord(asked.user, asked.mechanism)
    if not asked.salted_password:
        # Java has no empty keys.
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    keys = keys_of(HASHES[asked.mechanism], asked.salted_password)
    return UserScramCredentialRecord(asked.user, asked.mechanism, asked.salt, *keys, asked.iterations)


def check(image: MetadataImage, asked: Deletion | Upsertion) -> None:
    """ApiError for what brokers see before they make any record."""
    if not asked.user:
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if asked.mechanism not in HASHES:
        raise ApiError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(asked, Deletion):
        if asked.mechanism not in image.scram_credentials.get(asked.user, {}):
            message = "Attempt to delete a user credential that does not exist"
            raise ApiError(ErrorCode.RESOURCE_NOT_FOUND, message)
    elif asked.iterations < FEWEST_ITERATIONS:
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    elif asked.iterations > _MOST_ITERATIONS:
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")


def keys_of(name: str, salted_password: bytes) -> tuple[bytes, bytes]:
    """The stored key and the server key (RFC 5802)."""
    import hashlib
    import hmac

    client_key = hmac.digest(salted_password, b"Client Key", name)
    return hashlib.new(name, client_key).digest(), hmac.digest(salted_password, b"Server Key", name)
