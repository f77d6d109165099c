"""Who may reach a cluster: what keeps clients out for a while, and what lets them in again."""

import contextlib
from typing import TYPE_CHECKING, Final

from mockbroker.errors import MockBrokerError
from mockbroker.security import Security
from mockbroker.server.serving import ServedCluster

from .journal import Happened
from .plan import Plan, Step

if TYPE_CHECKING:
    from .stage import Outcome

REFUSE_LOGIN: Final = "refuse-login"
BARS: Final = frozenset(
    {"break-handshakes", "remove-acl", "remove-user", "set-password", "show-certificate", REFUSE_LOGIN}
)
"""What may happen after which clients have to tell their users of errors."""
_OF_LOGIN: Final = ("wrong-nonce", "wrong-signature")


def deed(step: Step) -> str:
    """What a step does, as `BARS` calls it."""
    of_login = step.fields.get("api") == "SaslAuthenticate" or step.fields.get("do") in _OF_LOGIN
    return REFUSE_LOGIN if step.do == "fault" and of_login else step.do


def is_barred(outcome: "Outcome", at: int) -> bool:
    """Whether something has happened before an entry that may keep clients out."""
    return any(e.do in BARS and not e.why_not for e in outcome.journal.of(Happened) if e.at < at)


def admit(cluster: ServedCluster, plan: Plan) -> None:
    """Gives clients back what the plan says that they have: passwords, ACLs, brokers with a certificate."""
    security = Security.of(plan.security or None)
    if security is None:
        return
    for user, password in security.users.items():
        with contextlib.suppress(MockBrokerError):
            cluster.set_password(user, password)
    for acl in security.acls:
        with contextlib.suppress(MockBrokerError):
            cluster.add_acl(acl)
    if security.uses_tls:
        cluster.show_certificate("valid")
        with contextlib.suppress(MockBrokerError):
            cluster.mend_handshakes()
