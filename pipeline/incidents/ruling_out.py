"""What an incident is not: others that look alike, if the files that would tell of them were read."""

from collections.abc import Iterable, Iterator

from ..signatures import by_name
from .evidence import Evidence
from .model import CERTAIN, Finding, Incident


def rule_out(incident: Incident, found: Iterable[Finding], evidence: Evidence) -> Iterator[str]:
    """A sentence for each other incident that would look alike, and that none of the `found` shows.

    What could not be looked for is said only of an incident that is not certain.
    """
    cause = incident.cause
    seen = {each["signature"] for each in found if each["topic"] in (None, cause["topic"])}
    known = by_name()
    others = known[incident.name].alike if incident.name in known else ()
    for alike in (known[name].looked_for for name in others):
        assert alike is not None, f"{incident.name} looks like what can't be looked for"
        if not seen.isdisjoint(alike.signatures):
            continue
        if alike.shown is not None and evidence.shows(alike.shown, cause, *alike.by):
            continue
        covered, told = evidence.look(alike.needs, cause)
        if covered:
            yield f"not {alike.named}: {told} tell{'s' * ('logs' not in told)} of none"
        elif incident.confidence != CERTAIN:
            yield f"perhaps {alike.named}, which could not be looked for: {told}"
