"""`unnamed-transactions`: what becomes of transactional records without a transactional id in the request.

With `taken`, they are appended, and nobody knows which transaction they belong to. With `refused`, each
partition gets TRANSACTIONAL_ID_AUTHORIZATION_FAILED, whether there are ACLs or not (CVE-2018-17196, mended in
2.1.1). Brokers of 0.11.0.3, 1.1.1, 2.0.1, 2.1.1, 2.3.1 and 2.8.2 were asked.
"""

from typing import Final, Literal

from ..behaviour import Switch

unnamed_transactions: Final = Switch[Literal["taken", "refused"]](
    name="unnamed-transactions",
    summary="whether transactional records are appended without a transactional id in the request",
    answers={"taken": False, "refused": True},
    history=(("0.11", "taken"), ("2.1", "refused")),
)
