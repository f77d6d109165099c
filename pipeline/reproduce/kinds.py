"""How incidents come about, by kind."""

from ..errors import PipelineError
from ..findings import POSSIBLE
from ..reproduction import Reproduction
from ..signatures import by_name, signatures
from .reading import Recorded


def kind_of(incident: Recorded) -> Reproduction:
    """PipelineError if nothing is known of how such an incident comes about, or if the files may tell of
    another one."""
    if incident.confidence == POSSIBLE:
        raise PipelineError(
            f"{incident.name} can't be reproduced, because it is only possible: {incident.why}; analyze it "
            "with the files that would tell"
        )
    known = [each for signature in signatures() for each in signature.reproductions]
    for each in known:
        if incident.name in each.names and each.fits(incident.why, incident.evidence):
            return each
    if reason := by_name()[incident.name].unshown if incident.name in by_name() else "":
        raise PipelineError(f"{incident.name} can't be reproduced: {reason}")
    names = {f"{name} ({each.when})" if each.when else name for each in known for name in each.names}
    raise PipelineError(f"{incident.name} can't be reproduced: known is {', '.join(sorted(names))}")
