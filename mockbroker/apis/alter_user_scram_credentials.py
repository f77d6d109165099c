"""AlterUserScramCredentials (51): sets what users log in with by SCRAM (KIP-554)."""

from ..cluster.call import Call
from ..controller.scram import Deletion, Upsertion
from ..protocol.api_keys import ApiKey
from ..protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from .registry import handles


@handles(ApiKey.ALTER_USER_SCRAM_CREDENTIALS)
def alter_user_scram_credentials(
    call: Call, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    """Every user succeeds or fails alone."""
    outcomes = call.cluster.controller.alter_scram_credentials(
        [Deletion(each.name, each.mechanism) for each in request.deletions],
        [
            Upsertion(
                each.name, each.mechanism, each.iterations, bytes(each.salt), bytes(each.salted_password)
            )
            for each in request.upsertions
        ],
    )
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user)
            if error is None
            else AlterUserScramCredentialsResult(user, error.code, error.message)
            for user, error in outcomes.items()
        ]
    )
