"""A whole application: its output, its commits and its exit."""

import signal
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ..correspondence import USER, named_in, user_of
from ..journal import Exited
from ..plan import Fields
from ..stage import Outcome
from .violation import Violation

_ENDED: Final = frozenset({0, 128 + signal.SIGTERM})
"""The statuses of a process that ends when SIGTERM tells it to."""


def died(outcome: Outcome) -> Iterator[Violation]:
    """`died`: it ended with a status other than 0 by itself, and is not restarted; or it did so when it was
    told to. `never-ends`: it had to be killed."""
    for exited in outcome.journal.of(Exited):
        if exited.killed:
            yield Violation("never-ends", USER, "it had to be killed after SIGTERM", (exited.at,))
        elif exited.asked and exited.status not in _ENDED:
            yield Violation("died", USER, _how(exited, " when it was told to end"), (exited.at,))
        elif not exited.asked and exited.status and not _fields(outcome)["restarts"]:
            yield Violation("died", USER, _how(exited, ""), (exited.at,))


def _how(exited: Exited, when: str) -> str:
    return f"it ended with status {exited.status}{when}; its last output:\n{exited.output or 'none'}"


def processed_once(outcome: Outcome) -> Iterator[Violation]:
    """`not-processed`: its input is committed, and the output is missing. `processed-again`: there are
    more outputs than inputs. `stuck`: long after all is well again, it has not processed or not committed an
    input."""
    fields = _fields(outcome)
    if not fields:
        return
    gets, gives = _counted(outcome, fields["input"]), _counted(outcome, fields["output"])
    lost, again, waiting = [], [], []
    for (topic, partition), records in outcome.logs.items():
        if topic not in fields["input"]:
            continue
        behind = outcome.committed.get((topic, partition), -1)
        for each in records:
            (name,) = named_in(each.value)
            where = f"{name.decode()}, {topic}-{partition} offset {each.offset}"
            done = not fields["output"] or gives[name] > 0
            if not done and each.offset < behind:
                lost.append(where)
            elif not done or (fields["group"] and each.offset >= behind):
                waiting.append(where)
            elif gives[name] > gets[name] and not fields["at_least_once"]:
                again.append(where)
    if lost:
        yield Violation("not-processed", USER, f"committed, and not in the output: {_some(lost)}")
    if again:
        yield Violation("processed-again", USER, f"in the output more than once: {_some(again)}")
    if waiting and not any(True for _ in died(outcome)):
        yield Violation("stuck", USER, f"not processed, or not committed: {_some(waiting)}")


def _fields(outcome: Outcome) -> Fields:
    """Of the application; empty if it is not one that was played."""
    user = user_of(outcome.plan)
    return {} if user is None else user.fields


def _counted(outcome: Outcome, topics: list[str]) -> Counter[bytes]:
    """In how many records that consumers get each input record is named."""
    found: Counter[bytes] = Counter()
    for (topic, _), records in outcome.logs.items():
        if topic in topics:
            for each in records:
                if each.committed:
                    found.update(named_in(each.key) | named_in(each.value))
    return found


def _some(told: list[str]) -> str:
    return told[0] + (f" and {len(told) - 1} more" if len(told) > 1 else "")
