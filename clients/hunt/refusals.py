"""What brokers did not do for clients, and which producer ids they gave, as it happens."""

from mockbroker.trace import Event
from mockbroker.trace.events import Answer

from .journal import Initialized, Refused
from .stage import Outcome

_ANSWERED = ("answer", "none")


def note_answer(outcome: Outcome, event: Event) -> None:
    """Notes errors that a broker answered to a client of the plan, answers that were lost, the producer ids
    that were given, and who is asked for records if there are racks."""
    if not isinstance(event, Answer):
        return
    lost = event.outcome not in _ANSWERED
    user = event.client_id or ""
    if user.removesuffix("-in") not in {each.name for each in outcome.plan.users}:
        return
    if event.api == "Fetch" and outcome.plan.racks and outcome.repaired >= 0:
        outcome.asked.setdefault(user, set()).add(event.broker)
    if event.errors or lost:
        refused = Refused(api=event.api, errors=event.errors, lost=lost, fault=bool(event.faults))
        refused.user = user
        outcome.journal.add(refused)
    elif event.api == "InitProducerId":
        outcome.journal.add(Initialized(user=user, fault=bool(event.faults)))
