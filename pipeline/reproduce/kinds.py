"""How incidents come about, by kind: what a history of one has, and what prevents it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ...simulation.consumer_setting import Commit
from ...simulation.history import draw
from ...simulation.plan import Options, Plan
from ...simulation.producer_setting import Generation
from ..errors import PipelineError
from . import schedules
from .reading import Recorded
from .templates import CUT_OFF, DELETED, RETENTION, UNCLEAN, Template

_BY_REQUEST: Final = "client delete records request"
_RETENTION: Final = "the log begins behind the position"


@dataclass(frozen=True, slots=True)
class Kind:
    """A plan for each seed, of a release (`kafka` if no other is asked for), and the same with what prevents
    the incident. `fails` and `passes` say what these have.

    If an invariant says what is wrong, seeds are tried until a plan violates it; else a plan always shows the
    incident, and `template` has the files that do so with a cluster.
    """

    fails: str
    passes: str
    plan: Callable[[int, str], Plan]
    prevented: Callable[[Plan], Plan]
    invariant: str | None = None
    template: Template | None = None
    kafka: str = "3.9"


def _explored(
    fails: str,
    passes: str,
    invariant: str,
    prevented: Callable[[Plan], Plan],
    kafka: str = "3.9",
    *,
    policies: Mapping[str, str] | None = None,
    commit: Commit | None = None,
    producer: Generation | None = None,
    offsets_topic: bool = False,
    newer_commits: bool = False,
) -> Kind:
    """Of histories that `mockbroker explore` draws."""

    def plan(seed: int, release: str) -> Plan:
        options = Options(
            release,
            policies or {},
            commit=commit,
            producer=producer,
            offsets_topic=offsets_topic,
            newer_commits=newer_commits,
        )
        return draw(seed, options)

    return Kind(fails, passes, plan, prevented, invariant, kafka=kafka)


def _answering(**policies: str) -> Callable[[Plan], Plan]:
    """The same plan with other behaviours; `_` stands for the `-` of their names."""
    named = {name.replace("_", "-"): answer for name, answer in policies.items()}
    return lambda plan: replace(plan, policies={**plan.policies, **named})


def _with_newer_broker(plan: Plan) -> Plan:
    producers = tuple(replace(each, generation=Generation.V2_5) for each in plan.producers)
    return replace(plan, kafka="2.4", producers=producers)


def _with_epochs(plan: Plan) -> Plan:
    return replace(plan, consumer=replace(plan.consumer, commit=Commit.POSITION))


_UNCLEAN: Final = Kind(
    "unclean elections",
    "no unclean elections",
    schedules.unclean_election,
    lambda plan: replace(plan, unclean=False),
    template=UNCLEAN,
)
_CUT_OFF: Final = Kind(
    "acks=1",
    "acks=all",
    schedules.cut_off_leader,
    lambda plan: replace(plan, producers=tuple(replace(each, acks=-1) for each in plan.producers)),
    template=CUT_OFF,
)
_RETAINED: Final = Kind(
    "a retention of a minute",
    "a retention of a week",
    schedules.deleted_below_commit,
    schedules.without_deletion,
    template=RETENTION,
)
_DELETED: Final = Kind(
    "records deleted that the group has not read",
    "only those deleted that it has read",
    schedules.deleted_below_commit,
    schedules.without_deletion,
    template=DELETED,
)
_NO_EPOCH: Final = _explored(
    "offsets committed without epochs",
    "offsets committed with epochs",
    "reset-without-loss",
    _with_epochs,
    commit=Commit.NO_EPOCH,
)
_EPOCH_REMOVED: Final = _explored(
    "epoch-below-first=undefined",
    "epoch-below-first=requested-epoch",
    "reset-without-loss",
    lambda plan: _with_epochs(_answering(epoch_below_first="requested-epoch")(plan)),
    policies={"epoch-below-first": "undefined"},
)
_LOG_START: Final = _explored(
    "fetch-log-start-offset=live",
    "follower-log-start-offset=bounded",
    "follower-fetcher-dead",
    _answering(follower_log_start_offset="bounded"),
    policies={"fetch-log-start-offset": "live"},
)
_LOAD_STOPS: Final = _explored(
    "offsets-load=stops",
    "offsets-load=skips",
    "group-offset-back",
    _answering(offsets_load="skips"),
    policies={"offsets-load": "stops"},
    offsets_topic=True,
    newer_commits=True,
)
_CLEANUP: Final = _explored(
    "offsets-cleanup=during-load",
    "offsets-cleanup=after-load",
    "group-offset-lost",
    _answering(offsets_cleanup="after-load"),
    policies={"offsets-cleanup": "during-load", "offsets-load-pace": "slow", "compaction": "dead"},
    offsets_topic=True,
)


def _forgotten(invariant: str) -> Kind:
    return _explored(
        "brokers of 2.3",
        "brokers of 2.4 and a producer of 2.5",
        invariant,
        _with_newer_broker,
        "2.3",
        producer=Generation.V1_0,
    )


_KINDS: Final[Mapping[str, Kind]] = {
    "unclean-election": _UNCLEAN,
    "cut-off-leader": _CUT_OFF,
    "truncation-gap": _NO_EPOCH,
    "undefined-epoch": _EPOCH_REMOVED,
    "log-start-past-log-end": _LOG_START,
    "offset-rewind": _LOAD_STOPS,
    "tombstone-of-live-group": _CLEANUP,
    "offset-lost": _CLEANUP,
    "spurious-sequence-error": _forgotten("spurious-out-of-order"),
    "producer-expired": _forgotten("written-twice"),
}
_RESETS: Final = ("reset-to-earliest", "reset-to-latest", "out-of-range")


def kind_of(incident: Recorded) -> Kind:
    """PipelineError if nothing is known of how such an incident comes about."""
    if incident.name in _RESETS and incident.why.startswith(_RETENTION):
        return _DELETED if _BY_REQUEST in incident.evidence else _RETAINED
    if (kind := _KINDS.get(incident.name)) is not None:
        return kind
    known = ", ".join(sorted([*_KINDS, *(f"{each} (below the log start)" for each in _RESETS)]))
    raise PipelineError(f"{incident.name} can't be reproduced: known is {known}")
