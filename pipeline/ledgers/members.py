"""What is known of a group's members: who left and why, who was refused, and whether the group settles."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..readers.client_messages import COMMIT_FAILED
from ..readers.coordinator_messages import SILENT
from ..readers.denial_messages import LOGIN
from ..tables import Column
from ..tables import functions as F
from .ledger import Ledger, refused_only
from .row import Note, Row, note

REFUSED: Final = (
    *("GROUP_ID_NOT_FOUND", "UNKNOWN_SERVER_ERROR", "FENCED_INSTANCE_ID", "INCONSISTENT_GROUP_PROTOCOL"),
    *("UNSUPPORTED_ASSIGNOR", "UNRELEASED_INSTANCE_ID", "GROUP_MAX_SIZE_REACHED", "INVALID_SESSION_TIMEOUT"),
)
"""After these a member does not simply join again."""
LOCKED_OUT: Final = ("GROUP_AUTHORIZATION_FAILED", LOGIN)
"""Whatever a member asks for."""
COMMITS_REFUSED: Final = (COMMIT_FAILED, "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION")
"""The group has gone on without the member."""
_LOGS: Final = ("client-log", "librdkafka-log")
_APIS: Final = ("JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat")
_SETTLED: Final = ("Stable", "Empty", "Dead")
_NEW_EPOCH: Final = "new group epoch"
_CAME_OR_WENT: Final = ("joined", "left")
_FENCED: Final = " fenced: "
_GROUP_GONE: Final = " group"
"""How the detail of a group's own tombstone ends."""
_SOON_MS: Final = 10_000
LOSES: Final = 5
LOSES_MS: Final = 30_000
"""So many members one after the other, over so long and more: it does not settle."""
_PAUSE_MS: Final = 60_000
"""What comes later is another time."""


@dataclass(slots=True)
class Members:
    """`fenced` are members that have not joined again since, `since` the beginning of a rebalance that goes
    on. `first` and `last` are new epochs of the group since its members or its topics changed, `count` is how
    many followed the first one.
    `refused` has the first and last refusal, and how many each file tells of, since several tell of the same;
    `commits` has them by partition, with how many there were; `silent` are members
    whose sessions expired, each soon after the one before; `told` is the last row."""

    fenced: dict[str, Row] = field(default_factory=dict)
    refused: tuple[Row, Row, Counter[str]] | None = None
    silent: list[Row] = field(default_factory=list)
    commits: dict[tuple[str | None, int | None], tuple[Row, Row, int]] = field(default_factory=dict)
    since: Row | None = None
    generation: int = -1
    first: Row | None = None
    last: Row | None = None
    count: int = 0
    told: Row | None = None


def step(state: Members, row: Row) -> Iterable[Note]:
    state.told = row
    return _STEPS[row.kind](state, row)


def end(state: Members) -> Iterator[Note]:
    for member, row in state.fenced.items():
        yield note("member-fenced", row, client=member, detail=(row.detail or "").partition(_FENCED)[2])
    if state.refused is not None:
        first, last, told = state.refused
        count = max(told.values())
        yield note(
            "member-refused", first, last if first is not last else None, number=count, detail=last.error
        )
    for first, last, count in state.commits.values():
        shown = (first, last) if count > 1 else (first,)
        yield note("commit-refused", *shown, client=None, number=count, detail=last.error)
    if state.since is not None and state.told is not None:
        yield from _rebalanced(state, state.told)
    yield from _changes(state)
    yield from _losses(state)


def _member(state: Members, row: Row) -> Iterator[Note]:
    detail = row.detail or ""
    member, fenced, _ = detail.partition(_FENCED)
    if fenced:
        state.fenced[member] = row
    else:
        if detail.endswith(SILENT):
            yield from _lost(state, row)
        member, _, did = detail.partition(" ")
        if did.startswith(_CAME_OR_WENT):
            state.fenced.pop(member, None)
    yield from _changes(state)


def _group(state: Members, row: Row) -> Iterator[Note]:
    detail = row.detail or ""
    if detail.startswith("PreparingRebalance"):
        state.since = state.since or row
    elif detail in _SETTLED and state.since is not None:
        yield from _rebalanced(state, row)
        state.since = None
    if detail == "Dead":
        yield note("group-gone", row)
    if not detail.startswith(_NEW_EPOCH) or row.generation is None or row.generation <= state.generation:
        return
    state.generation, last = row.generation, state.last
    if last is None or row.detail != last.detail or row.at_ms - last.at_ms > _PAUSE_MS:
        yield from _changes(state)
        state.first = row
    else:
        state.count += 1
    state.last = row


def _rebalanced(state: Members, until: Row) -> Iterator[Note]:
    assert state.since is not None
    if until.at_ms - state.since.at_ms >= _SOON_MS:
        yield note("rebalance", state.since, until)


def _lost(state: Members, row: Row) -> Iterator[Note]:
    last = state.silent[-1] if state.silent else None
    if last is not None and (row.at_ms, row.detail) == (last.at_ms, last.detail):
        return  # a broker writes some lines to two files
    if last is not None and row.at_ms - last.at_ms > _PAUSE_MS:
        yield from _losses(state)
    state.silent.append(row)


def _losses(state: Members) -> Iterator[Note]:
    silent, state.silent = state.silent, []
    if len(silent) >= LOSES and silent[-1].at_ms - silent[0].at_ms >= LOSES_MS:
        yield note("unsettled", silent[0], silent[-1], number=len(silent), detail=SILENT)


def _changes(state: Members) -> Iterator[Note]:
    """That of a member which joined or left makes an epoch, too."""
    if state.first is not None and state.last is not None and state.count:
        yield note("unsettled", state.first, state.last, number=state.count)
    state.first = state.last = None
    state.count = 0


def _tombstone(state: Members, row: Row) -> Iterator[Note]:
    if row.topic is None and (row.detail or "").endswith(_GROUP_GONE):
        yield note("group-gone", row)


def _refused(state: Members, row: Row) -> Iterable[Note]:
    if row.api == "OffsetCommit" and row.error not in LOCKED_OUT:
        place = row.topic, row.partition
        first, _, count = state.commits.get(place, (row, row, 0))
        state.commits[place] = first, row, count + 1
        return ()
    first, _, told = state.refused or (row, row, Counter())
    told[row.file] += 1
    state.refused = first, row, told
    return ()


def _commits() -> Column:
    """Refused commits of which an application was told: clients get over others by themselves."""
    of_client = (F.col("api") == "OffsetCommit") & F.col("source").isin(*_LOGS)
    told = F.col("topic").isNotNull() | (F.col("error") == COMMIT_FAILED)
    return of_client & told & F.col("error").isin(*COMMITS_REFUSED)


_STEPS: Final = {"member": _member, "group": _group, "tombstone": _tombstone, "refused": _refused}
LEDGER: Final = Ledger(
    "members of groups",
    tuple(_STEPS),
    F.col("group").isNotNull()
    & refused_only(
        (F.col("error").isin(*REFUSED) & F.col("api").isin(*_APIS))
        | F.col("error").isin(*LOCKED_OUT)
        | _commits()
    ),
    F.col("group"),
    ("client", "group", "topic", "partition", "generation", "api", "error", "detail"),
    Members,
    step,
    end,
)
