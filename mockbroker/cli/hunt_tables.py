"""Tables of `mockbroker hunt`: what was found, and what was played."""

from collections.abc import Iterable, Mapping

from rich.table import Table

from ..clients.hunt.coverage import Known
from ..clients.hunt.drawn_faults import ways
from ..clients.hunt.harm import harm_of
from ..clients.hunt.writing import Record


def findings_table(
    records: Iterable[Record], ruled: Mapping[str, str], there: Mapping[str, str] | None = None
) -> Table:
    """The worst first; those that are `ruled` on, by name, come last. `there` says, by name, what an upstream
    has shown."""
    table = Table("harm", "invariant", "application", "error", "seeds", "every time", "no event", "first")
    if there is not None:
        table.add_column("upstream")
    if ruled:
        table.add_column("known as")
    for each in sorted(records, key=lambda each: (each.name in ruled, *each.order)):
        counts = (len(each.seeds), len(each.sure), len(each.quiet), each.seeds[0])
        told = (str(harm_of(each.invariant)), each.invariant, each.application, each.cause)
        more = [] if there is None else [there[each.name]]
        table.add_row(*told, *map(str, counts), *more, *([ruled.get(each.name, "")] if ruled else []))
    return table


def coverage_table(known: Known) -> Table:
    """What clients ask in each workload, how many of the faults that may meet it have met it, in how many
    states of the broker, and which never have."""
    table = Table("plan", "client", "request", "faults met", "states", "never")
    for workload, asked in known.requests.items():
        for client_id, api in sorted({(each.client_id, each.api) for each in asked}):
            seen = {
                key[4]: states
                for key, states in known.seen.items()
                if key[:3] == (workload, client_id, api) and states
            }
            possible = ways(api, transactional=workload in ("transactions", "processor"), brokers=3)
            never = [each for each in possible if each not in seen]
            states = {state for each in seen.values() for state in each}
            met = f"{len(possible) - len(never)} of {len(possible)}"
            table.add_row(workload, client_id, api, met, str(len(states)), ", ".join(never) or "nothing")
    return table
