"""`session-timeout-check`: a JoinGroup with an invalid session timeout, to a broker that does not coordinate
the group (KIP-848).

Up to 3.9 the broker answers NOT_COORDINATOR (`GroupCoordinator.scala`). Since 4.0 it looks at the session
timeout first, and answers INVALID_SESSION_TIMEOUT (`GroupCoordinatorService.java`).
"""

from typing import Final, Literal

from ..behaviour import Switch

session_timeout_check: Final = Switch[Literal["by-coordinator", "by-any-broker"]](
    name="session-timeout-check",
    summary="whether a broker that is not the coordinator refuses a JoinGroup's session timeout",
    answers={"by-coordinator": False, "by-any-broker": True},
    history=(("0.11", "by-coordinator"), ("4.0", "by-any-broker")),
    ids=("KIP-848",),
)
