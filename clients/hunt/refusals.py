"""What brokers did not do for clients, as it happens."""

from mockbroker.trace import Event
from mockbroker.trace.events import Answer

from .journal import Refused
from .stage import Outcome

_ANSWERED = ("answer", "none")


def note_refused(outcome: Outcome, event: Event) -> None:
    """Notes errors that a broker answered to a client of the plan, and answers that were lost."""
    if not isinstance(event, Answer):
        return
    lost = event.outcome not in _ANSWERED
    user = event.client_id or ""
    if (event.errors or lost) and user.removesuffix("-in") in {each.name for each in outcome.plan.users}:
        refused = Refused(api=event.api, errors=event.errors, lost=lost, fault=bool(event.faults))
        refused.user = user
        outcome.journal.add(refused)
