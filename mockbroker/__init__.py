"""A wire-compatible mock Kafka cluster whose behaviour is pluggable."""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .cluster.configs.values import ConfigError
    from .cluster.replicas import Replica
    from .contents.values import (
        CommittedOffset,
        GroupDescription,
        MemberDescription,
        PartitionDescription,
        Record,
        TopicDescription,
        TopicPartition,
        TransactionDescription,
    )
    from .control.errors import ConflictError, NotThereError, RefusedError
    from .errors import (
        BlockingCallError,
        MockBrokerError,
        NotRunningError,
        OptionError,
        UnknownOptionError,
        WaitTimeoutError,
        WrongEventLoopError,
    )
    from .faults import CallbackError, ClientRequest, FaultError
    from .policies.behaviour import UnknownPolicyError
    from .policies.own import OwnPolicyError
    from .protocol.releases import UnknownReleaseError
    from .server.failures import ClusterError, OutputLostError, RequestFailedError
    from .server.fault_control import FaultHandle
    from .server.listening import PortInUseError
    from .server.mock_cluster import MockCluster
    from .server.serving import ServedCluster, serve
    from .trace.events import Event
    from .trace.files import TraceError

__version__: Final = "0.1.0"

__all__ = [
    "BlockingCallError",
    "CallbackError",
    "ClientRequest",
    "ClusterError",
    "CommittedOffset",
    "ConfigError",
    "ConflictError",
    "Event",
    "FaultError",
    "FaultHandle",
    "GroupDescription",
    "MemberDescription",
    "MockBrokerError",
    "MockCluster",
    "NotRunningError",
    "NotThereError",
    "OptionError",
    "OutputLostError",
    "OwnPolicyError",
    "PartitionDescription",
    "PortInUseError",
    "Record",
    "RefusedError",
    "Replica",
    "RequestFailedError",
    "ServedCluster",
    "TopicDescription",
    "TopicPartition",
    "TraceError",
    "TransactionDescription",
    "UnknownOptionError",
    "UnknownPolicyError",
    "UnknownReleaseError",
    "WaitTimeoutError",
    "WrongEventLoopError",
    "__version__",
    "serve",
]

_MODULES: Final = {
    "cluster.configs.values": ("ConfigError",),
    "cluster.replicas": ("Replica",),
    "contents.values": (
        "CommittedOffset",
        "GroupDescription",
        "MemberDescription",
        "PartitionDescription",
        "Record",
        "TopicDescription",
        "TopicPartition",
        "TransactionDescription",
    ),
    "control.errors": ("ConflictError", "NotThereError", "RefusedError"),
    "errors": (
        "BlockingCallError",
        "MockBrokerError",
        "NotRunningError",
        "OptionError",
        "UnknownOptionError",
        "WaitTimeoutError",
        "WrongEventLoopError",
    ),
    "faults": ("CallbackError", "ClientRequest", "FaultError"),
    "policies.behaviour": ("UnknownPolicyError",),
    "policies.own": ("OwnPolicyError",),
    "protocol.releases": ("UnknownReleaseError",),
    "server.failures": ("ClusterError", "OutputLostError", "RequestFailedError"),
    "server.fault_control": ("FaultHandle",),
    "server.listening": ("PortInUseError",),
    "server.mock_cluster": ("MockCluster",),
    "server.serving": ("ServedCluster", "serve"),
    "trace.events": ("Event",),
    "trace.files": ("TraceError",),
}
"""Where each name comes from: the same as above, for when it is asked for."""


def __getattr__(name: str) -> Any:
    # Imported on demand: `mockbroker.protocol` alone should not load a server.
    for module, names in _MODULES.items():
        if name in names:
            import importlib

            found = getattr(importlib.import_module(f".{module}", __name__), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
