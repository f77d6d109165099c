"""Who may reach a cluster: what keeps clients out for a while, and what lets them in again."""

import contextlib
from typing import Final

from mockbroker.errors import MockBrokerError
from mockbroker.security import Security
from mockbroker.server.serving import ServedCluster

from .plan import Plan

REFUSE_LOGIN: Final = "refuse-login"
BARS: Final = frozenset(
    {"break-handshakes", "remove-acl", "remove-user", "set-password", "show-certificate", REFUSE_LOGIN}
)
"""What may happen after which clients have to tell their users of errors."""


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
