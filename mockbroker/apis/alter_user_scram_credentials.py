"""AlterUserScramCredentials (51): sets what users log in with by SCRAM (KIP-554)."""

from ..cluster.call import Call
from ..controller.scram import Deletion, Upsertion, check
from ..outcome import Steps
from ..portions import MANY, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from .registry import handles

_Entry = ScramCredentialDeletion | ScramCredentialUpsertion


@handles(
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    changes=True,
    source="ControllerApis.handleAlterUserScramCredentials, ScramControlManager.alterCredentials",
    resource="""UNACCEPTABLE_CREDENTIAL, UNSUPPORTED_SASL_MECHANISM, DUPLICATE_RESOURCE, RESOURCE_NOT_FOUND,
        UNSUPPORTED_VERSION, CLUSTER_AUTHORIZATION_FAILED""",
)
def alter_user_scram_credentials(call: Call, request: AlterUserScramCredentialsRequest) -> Steps:
    """Every user succeeds or fails alone, and may be named once: of what is asked for a user, only the first
    is looked at."""
    entries: list[_Entry] = [*request.deletions, *request.upsertions]
    asked: dict[str, Deletion | Upsertion] = {}
    twice: set[str] = set()
    for named in portions(entries, MANY):
        for each in named:
            if each.name in asked:
                twice.add(each.name)
            else:
                asked[each.name] = _alteration(each)
        yield
    answer, controller = AlterUserScramCredentialsResponse(), call.cluster.controller
    for portion in portions(asked.items()):
        for user, alteration in portion:
            try:
                if user in twice:
                    # An error of the first one takes precedence.
                    check(controller.image, alteration)
                    message = "A user credential cannot be altered twice in the same request"
                    raise ApiError(ErrorCode.DUPLICATE_RESOURCE, message)
                controller.alter_scram_credential(alteration)
            except ApiError as error:
                result = AlterUserScramCredentialsResult(user, error.code, error.message)
            else:
                result = AlterUserScramCredentialsResult(user)
            answer.results.append(result)
        yield
    return answer


def _alteration(asked: ScramCredentialDeletion | ScramCredentialUpsertion) -> Deletion | Upsertion:
    if isinstance(asked, ScramCredentialDeletion):
        return Deletion(asked.name, asked.mechanism)
    salt, password = bytes(asked.salt), bytes(asked.salted_password)
    return Upsertion(asked.name, asked.mechanism, asked.iterations, salt, password)
