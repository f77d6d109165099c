"""Operations on faults: what goes wrong with requests."""

from typing import Annotated, Any, TypedDict

import trio

from ..errors import ConflictError
from ..faults import Fault
from . import previewing
from .fault_schema import fault_schema
from .registry import operation
from .shaping import shaped
from .target import Target

FaultName = Annotated[str, "A fault's name."]


class FaultState(TypedDict):
    """`hits` is how many requests it has touched, `held` how many it is holding; `over` is whether it will
    touch no more. `illegal` says why no broker does what it does; it is empty if some may. `why` says which
    of the fault's conditions no request has met; it is empty once the fault has fired."""

    name: str
    fault: str
    hits: int
    held: int
    over: bool
    optional: bool
    illegal: str
    why: str


class FaultPreview(TypedDict):
    """What a fault would have done to the last `requests` of the trace: `matching` is how many of them meet
    its conditions, `touched` the numbers of the events of those that it would have touched, which `nth`,
    `times` and `probability` choose. `why` says why there are none, `illegal` as for a fault."""

    fault: str
    requests: int
    matching: int
    touched: list[int]
    why: str
    illegal: str


@operation("faults add", "POST", "/faults", fault_schema)
def add(
    target: Target,
    /,
    do: Annotated[str, "What happens: disconnect, error, delay, hold, …"],
    name: Annotated[str | None, "What to call the fault; a number if left out."] = None,
    **fault: Annotated[Any, "The fault's other fields: api, topic, when, times, …"],
) -> FaultState:
    """Adds a fault: from now on it happens to the requests that its fields describe."""
    name = target.add_fault(name, do, fault)
    return _state(name, target.fault(name))


@operation("faults preview", "POST", "/faults/preview", fault_schema)
async def preview(
    target: Target,
    /,
    do: Annotated[str, "What would happen: disconnect, error, delay, hold, …"],
    name: Annotated[str | None, "What the fault would be called."] = None,
    **fault: Annotated[Any, "The fault's other fields: api, topic, when, times, …"],
) -> FaultPreview:
    """Shows which of the last requests a fault would have touched, without adding it. Unless the trace is on,
    requests are kept only from the first call."""
    # Of a name that is taken one is told when the fault is added: whoever has just added it still sees this.
    del name
    target.watch()
    tried = target.faults.checked(do, **fault)
    requests = previewing.last_requests(target.trace)
    # It only reads, and would hold up clients where requests name very many partitions.
    touched = await trio.to_thread.run_sync(previewing.touched_by, tried, target.cluster, requests)
    return {
        "fault": str(tried),
        "requests": len(requests),
        "matching": tried.matched,
        "touched": touched,
        "why": "" if touched else tried.why_so_far,
        "illegal": tried.illegal,
    }


@operation("faults list", "GET", "/faults")
def list_faults(target: Target) -> list[FaultState]:
    """Lists every fault, how often it fired, and if it did not, why."""
    return [_state(name, fault) for name, fault in target.named_faults().items()]


@operation("faults show", "GET", "/faults/{name}")
def show(target: Target, name: FaultName) -> FaultState:
    """Shows one fault, how often it fired, and if it did not, why."""
    return _state(name, target.fault(name))


@operation("faults wait", "GET", "/faults/{name}/wait")
async def wait(
    target: Target,
    name: FaultName,
    hits: Annotated[int, "How many requests the fault has to touch."] = 1,
    timeout: Annotated[float, "How many seconds to wait."] = 30.0,
) -> FaultState:
    """Waits until a fault has touched a number of requests."""
    fault = target.fault(name)
    with trio.move_on_after(max(timeout, 0)):
        while fault.hits < hits and fault in target.faults.rules:
            await _touched(fault)
    if fault.hits >= hits:
        return _state(name, fault)
    why = f"within {timeout:g} s" if fault in target.faults.rules else "before it was removed"
    unmet = f": {fault.why_so_far}" if fault.why_so_far else ""
    raise ConflictError(f"fault {name!r} touched {fault.hits} requests, not {hits}, {why}{unmet}")


@operation("faults pause", "POST", "/faults/{name}/pause")
def pause(target: Target, name: FaultName) -> FaultState:
    """Holds every request that matches the fault, until it is released."""
    fault = target.fault(name)
    fault.pause()
    return _state(name, fault)


@operation("faults release", "POST", "/faults/{name}/release")
def release(target: Target, name: FaultName) -> FaultState:
    """Lets go of the requests that a fault holds, and holds none from now on."""
    fault = target.fault(name)
    fault.release()
    return _state(name, fault)


@operation("faults remove", "DELETE", "/faults/{name}")
def remove(target: Target, name: FaultName) -> FaultState:
    """Removes a fault. Requests that it holds go on."""
    fault = target.fault(name)
    end(target, fault)
    return _state(name, fault)


@operation("faults clear", "DELETE", "/faults")
def clear(target: Target) -> list[FaultState]:
    """Removes all faults, and shows how often each fired."""
    found = list_faults(target)
    for fault in list(target.faults.rules):
        end(target, fault)
    return found


def end(target: Target, fault: Fault) -> None:
    """Removes a fault. May be called twice."""
    target.faults.remove(fault)


async def _touched(fault: Fault) -> None:
    """Until the fault touches a request, or ends."""
    event = trio.Event()
    fault.on_hit.append(event.set)
    try:
        await event.wait()
    finally:
        fault.on_hit.remove(event.set)


def _state(name: str, fault: Fault) -> FaultState:
    return shaped(FaultState, fault, name=name, fault=str(fault), over=fault.used_up)
