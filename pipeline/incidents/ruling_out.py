"""What an incident is not: others that look alike, if the files that would tell of them were read."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ..readers.log_spans import CONTROLLER
from .evidence import BATCHES, BROKERS, CLIENT, COORDINATORS, OFFSETS, Evidence
from .model import CERTAIN, Finding, Incident


class Alike(NamedTuple):
    """`signatures` would have been found in what `needs` names (`evidence.NEEDS`). If there is a row of kind
    `shown` about the same of `by`, it can't be ruled out, although nothing was found."""

    named: str
    signatures: tuple[str, ...]
    needs: str
    shown: str | None = None
    by: tuple[str, ...] = ("topic", "partition")


_UNCLEAN: Final = Alike("an unclean election", ("unclean-election",), CONTROLLER, "leader")
_CUT_OFF: Final = Alike("a leader that was cut off", ("cut-off-leader",), BROKERS)
_SHORTER: Final = Alike("a truncation", ("truncation-gap", "log-end-fell"), BROKERS, "truncation")
_RECREATED: Final = Alike(
    "a topic that was created anew", ("topic-recreated",), CONTROLLER, "log", ("topic",)
)
_EPOCH: Final = Alike(
    "an epoch that nobody knows", ("undefined-epoch", "unknown-epoch"), CLIENT, "epoch-answer"
)
_LOAD: Final = Alike("a load that ended early", ("load-ended-early", "slow-load"), COORDINATORS, "load", ())
_TOMBSTONE: Final = Alike(
    "a commit that was deleted too early",
    ("tombstone-of-live-group",),
    OFFSETS,
    "tombstone",
    ("group", "topic", "partition"),
)
_EXPIRED: Final = Alike("a producer that was forgotten", ("producer-expired",), BATCHES)
ALIKE: Final[dict[str, tuple[Alike, ...]]] = {
    "unclean-election": (_CUT_OFF,),
    "cut-off-leader": (_UNCLEAN,),
    **dict.fromkeys(
        ("set-back", "out-of-range", "reset-to-earliest", "reset-to-latest"),
        (_UNCLEAN, _CUT_OFF, _SHORTER, _RECREATED, _EPOCH),
    ),
    **dict.fromkeys(("truncation-gap", "log-end-fell"), (_UNCLEAN, _CUT_OFF, _RECREATED)),
    **dict.fromkeys(("offset-rewind", "offset-lost"), (_LOAD, _TOMBSTONE, _UNCLEAN, _SHORTER, _RECREATED)),
    **dict.fromkeys(("lost-records", "spurious-sequence-error"), (_UNCLEAN, _SHORTER, _EXPIRED)),
    "tombstone-of-live-group": (_LOAD,),
    "topic-recreated": (_UNCLEAN, _SHORTER),
    "follower-log-lost": (_UNCLEAN,),
}


def rule_out(incident: Incident, found: Iterable[Finding], evidence: Evidence) -> Iterator[str]:
    """A sentence for each other incident that would look alike, and that none of the `found` shows.

    What could not be looked for is said only of an incident that is not certain.
    """
    cause = incident.cause
    seen = {each["signature"] for each in found if each["topic"] in (None, cause["topic"])}
    for alike in ALIKE.get(incident.name, ()):
        if not seen.isdisjoint(alike.signatures):
            continue
        if alike.shown is not None and evidence.shows(alike.shown, cause, *alike.by):
            continue
        covered, told = evidence.look(alike.needs, cause)
        if covered:
            yield f"not {alike.named}: {told} tell{'s' * ('logs' not in told)} of none"
        elif incident.confidence != CERTAIN:
            yield f"perhaps {alike.named}, which could not be looked for: {told}"
