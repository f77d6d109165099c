"""The faults that need nothing but a request and its answer."""

from typing import Final

from ..faults import Fault, FaultError, Faults

ON_ANSWERS: Final = frozenset(
    {
        "corrupt-crc",
        "delay",
        "disconnect",
        "error",
        "half-answer",
        "hide-broker",
        "reorder",
        "replace",
        "reset",
        "silence",
        "slow-bytes",
        "throttle",
        "truncated-batch",
        "watch",
        "wrong-correlation-id",
    }
)
_UNKNOWN: Final = ("listener", "user", "mechanism")


class ProxiedFaults(Faults):
    """FaultError for faults, and conditions, that only a mock can bring about."""

    def _of_cluster(self, fault: Fault) -> Fault:
        check(fault)
        return super()._of_cluster(fault)


def check(fault: Fault) -> None:
    """FaultError for a fault, or a condition, that only a mock can bring about."""
    if fault.do not in ON_ANSWERS:
        why = f"{fault.do} is done to the cluster itself, which a proxy can't do; it can do"
        raise FaultError(f"{why} {', '.join(sorted(ON_ANSWERS))}", "do")
    for name in _UNKNOWN:
        if getattr(fault.match, name) is not None:
            raise FaultError(f"a proxy does not know the {name} of a request: leave it out", name)
