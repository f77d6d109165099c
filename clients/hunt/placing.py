"""Steps of the cluster that wait for a call of an application, or for a request on which a fault acts."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import trio

from mockbroker.faults import Fault, Faults
from mockbroker.faults.exchange import Exchange
from mockbroker.faults.match import api_name
from mockbroker.server.serving import ServedCluster

from .journal import Happened, Journal
from .plan import Fields, Plan, Step
from .states import UNKNOWN, state_of

NOTED: Final = 3
"""On so many requests it is noted that a fault acts."""


@dataclass(slots=True, kw_only=True)
class Acted(Happened):
    """The fault that `step` added acts on a request of an API, while the broker was in that `state`."""

    step: Step
    client_id: str
    api: str
    state: str


class Waits:
    """What the steps of a plan wait for."""

    def __init__(self, plan: Plan) -> None:
        self._events = {_key(step.on): trio.Event() for step in plan.steps if step.on}
        self._calls: Counter[tuple[str, str]] = Counter()

    def begins(self, user: str, verb: str) -> None:
        """A user makes a call, of which the client does not know yet."""
        self._calls[user, verb] += 1
        self._came({"user": user, "call": verb, "nth": self._calls[user, verb]})

    def acted(self, name: str) -> None:
        """The fault of that name acts on a request."""
        self._came({"fault": name})

    def _came(self, on: Fields) -> None:
        event = self._events.get(_key(on))
        if event is not None:
            event.set()

    async def until(self, on: Fields) -> None:
        await self._events[_key(on)].wait()


def _key(on: Fields) -> tuple[Any, ...]:
    if "fault" in on:
        return ("fault", on["fault"])
    return (on["user"], on["call"], on.get("nth", 1))


def add_fault(cluster: ServedCluster, step: Step, waits: Waits, journal: Journal) -> None:
    """Adds the fault of a step, and notes the first requests on which it acts. FaultError."""

    def acts(fault: Fault, exchange: Exchange) -> None:
        if fault.hits > NOTED:
            return
        client_id, api = exchange.call.client_id or "", api_name(exchange.api)
        # What is behind a proxy does not tell.
        state = state_of(exchange) if isinstance(cluster, ServedCluster) else UNKNOWN
        told = f"{step.name or fault.do} acts on {api} {fault.matched} of {client_id or 'nobody'} ({state})"
        journal.add(Acted(what=told, step=step, client_id=client_id, api=api, state=state))
        if step.name:
            waits.acted(step.name)

    def add(faults: Faults) -> None:
        faults.add(**step.fields, optional=True).on_act.append(acts)

    cluster.run_with_faults(add)
