"""Operations on faults: what goes wrong with requests."""

from typing import Annotated, Any, TypedDict

import trio

from ..errors import ConflictError
from ..faults import Fault
from .registry import operation
from .target import Target

FaultName = Annotated[str, "A fault's name."]


class FaultState(TypedDict):
    """`hits` is how many requests it touched, `held` how many it holds just now; `over` whether it will touch
    no more."""

    name: str
    fault: str
    hits: int
    held: int
    over: bool
    optional: bool


class FaultShown(FaultState):
    """`why` says which of its conditions no request has met; it is empty when the fault has fired."""

    why: str


@operation("faults add", "POST", "/faults")
def add(
    target: Target,
    /,
    do: Annotated[str, "What happens: disconnect, error, delay, hold, …"],
    name: Annotated[str | None, "What to call it; a number if it is left out."] = None,
    **fault: Annotated[Any, "Its other fields: api, topic, when, times, …"],
) -> FaultState:
    """From now on something happens to the requests that the fault's fields describe."""
    name = target.add_fault(name, do, fault)
    return _state(name, target.fault(name))


@operation("faults list", "GET", "/faults")
def list_faults(target: Target) -> list[FaultState]:
    """Every fault and how often it fired."""
    return [_state(name, fault) for name, fault in target.named_faults().items()]


@operation("faults show", "GET", "/faults/{name}")
def show(target: Target, name: FaultName) -> FaultShown:
    """One fault, how often it fired, and if it did not, why."""
    fault = target.fault(name)
    return {**_state(name, fault), "why": fault.why}


@operation("faults wait", "GET", "/faults/{name}/wait")
async def wait(
    target: Target,
    name: FaultName,
    hits: Annotated[int, "How many requests it has to touch."] = 1,
    timeout: Annotated[float, "How many seconds to wait."] = 30.0,
) -> FaultState:
    """Answers once a fault has touched so many requests."""
    fault = target.fault(name)
    with trio.move_on_after(max(timeout, 0)):
        while fault.hits < hits and fault in target.faults.rules:
            await _told(fault)
    if fault.hits >= hits:
        return _state(name, fault)
    why = f"within {timeout:g} s" if fault in target.faults.rules else "before it was removed"
    unmet = f": {fault.why_so_far}" if fault.why_so_far else ""
    raise ConflictError(f"fault {name!r} touched {fault.hits} requests, not {hits}, {why}{unmet}")


@operation("faults pause", "POST", "/faults/{name}/pause")
def pause(target: Target, name: FaultName) -> FaultState:
    """Holds every request that the fault is for, until release."""
    fault = target.fault(name)
    fault.pause()
    return _state(name, fault)


@operation("faults release", "POST", "/faults/{name}/release")
def release(target: Target, name: FaultName) -> FaultState:
    """Lets the requests go that a fault holds, and holds none from now on."""
    fault = target.fault(name)
    fault.release()
    return _state(name, fault)


@operation("faults remove", "DELETE", "/faults/{name}")
def remove(target: Target, name: FaultName) -> FaultState:
    """Ends a fault; requests that it holds go on."""
    fault = target.fault(name)
    end(target, fault)
    return _state(name, fault)


@operation("faults clear", "DELETE", "/faults")
def clear(target: Target) -> list[FaultState]:
    """Ends all faults, and says what became of them."""
    found = list_faults(target)
    for fault in list(target.faults.rules):
        end(target, fault)
    return found


def end(target: Target, fault: Fault) -> None:
    """Removes a fault. Fine to call twice."""
    target.faults.remove(fault)


async def _told(fault: Fault) -> None:
    """Until the fault touches a request, or ends."""
    event = trio.Event()
    fault.on_hit.append(event.set)
    try:
        await event.wait()
    finally:
        fault.on_hit.remove(event.set)


def _state(name: str, fault: Fault) -> FaultState:
    return {
        "name": name,
        "fault": str(fault),
        "hits": fault.hits,
        "held": fault.held,
        "over": fault.used_up,
        "optional": fault.optional,
    }
