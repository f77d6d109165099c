"""A wire-compatible mock Kafka cluster whose behaviour is pluggable."""

from typing import TYPE_CHECKING, Any, Final

from .version import __version__

if TYPE_CHECKING:
    from .cluster.replicas import Replica
    from .cluster_options import ClockName, ClusterOptions, unchecked
    from .configs.values import ConfigError
    from .contents.values import (
        CommittedOffset,
        GroupDescription,
        MemberDescription,
        PartitionDescription,
        Record,
        SharedRecords,
        SharePartitionDescription,
        TelemetryClient,
        TopicDescription,
        TopicPartition,
        TransactionDescription,
    )
    from .control.errors import RefusedError
    from .errors import (
        BlockingCallError,
        ConflictError,
        MockBrokerError,
        NotRunningError,
        NotThereError,
        OptionError,
        ScenarioFailedError,
        UnknownOptionError,
        UpstreamError,
        WaitTimeoutError,
        WrongEventLoopError,
    )
    from .faults import CallbackError, ClientRequest, FaultError
    from .names import (
        AnswerName,
        ApiName,
        BehaviourName,
        Behaviours,
        ErrorName,
        Fault,
        FaultAction,
        FaultFields,
        InstalledAnswer,
        ReleaseName,
        When,
    )
    from .policies.behaviour import UnknownPolicyError
    from .policies.own import OwnPolicyError
    from .protocol.releases import UnknownReleaseError
    from .proxy_options import MarkedProxyOptions, MockProxyOptions
    from .proxying.mock_proxy import MockProxy
    from .pytest_plugin.factory import ClusterFactory
    from .pytest_plugin.marks import mark, mark_matrix, mark_proxy
    from .security import Security
    from .server.failures import ClusterError, OutputLostError, RequestFailedError
    from .server.fault_control import FaultHandle
    from .server.listening import PortInUseError
    from .server.mock_cluster import MockCluster
    from .server.serving import ServedCluster, serve
    from .trace.event import Event
    from .trace.files import TraceError

__all__ = [
    "AnswerName",
    "ApiName",
    "BehaviourName",
    "Behaviours",
    "BlockingCallError",
    "CallbackError",
    "ClientRequest",
    "ClockName",
    "ClusterError",
    "ClusterFactory",
    "ClusterOptions",
    "CommittedOffset",
    "ConfigError",
    "ConflictError",
    "ErrorName",
    "Event",
    "Fault",
    "FaultAction",
    "FaultError",
    "FaultFields",
    "FaultHandle",
    "GroupDescription",
    "InstalledAnswer",
    "MarkedProxyOptions",
    "MemberDescription",
    "MockBrokerError",
    "MockCluster",
    "MockProxy",
    "MockProxyOptions",
    "NotRunningError",
    "NotThereError",
    "OptionError",
    "OutputLostError",
    "OwnPolicyError",
    "PartitionDescription",
    "PortInUseError",
    "Record",
    "RefusedError",
    "ReleaseName",
    "Replica",
    "RequestFailedError",
    "ScenarioFailedError",
    "Security",
    "ServedCluster",
    "SharePartitionDescription",
    "SharedRecords",
    "TelemetryClient",
    "TopicDescription",
    "TopicPartition",
    "TraceError",
    "TransactionDescription",
    "UnknownOptionError",
    "UnknownPolicyError",
    "UnknownReleaseError",
    "UpstreamError",
    "WaitTimeoutError",
    "When",
    "WrongEventLoopError",
    "__version__",
    "mark",
    "mark_matrix",
    "mark_proxy",
    "serve",
    "unchecked",
]

_MODULES: Final = {
    "configs.values": ("ConfigError",),
    "cluster.replicas": ("Replica",),
    "contents.values": (
        "CommittedOffset",
        "GroupDescription",
        "MemberDescription",
        "PartitionDescription",
        "Record",
        "SharePartitionDescription",
        "SharedRecords",
        "TopicDescription",
        "TopicPartition",
        "TelemetryClient",
        "TransactionDescription",
    ),
    "control.errors": ("RefusedError",),
    "cluster_options": ("ClockName", "ClusterOptions", "unchecked"),
    "errors": (
        "BlockingCallError",
        "ConflictError",
        "MockBrokerError",
        "NotRunningError",
        "NotThereError",
        "OptionError",
        "ScenarioFailedError",
        "UnknownOptionError",
        "UpstreamError",
        "WaitTimeoutError",
        "WrongEventLoopError",
    ),
    "faults": ("CallbackError", "ClientRequest", "FaultError"),
    "names": (
        "AnswerName",
        "ApiName",
        "BehaviourName",
        "Behaviours",
        "ErrorName",
        "Fault",
        "FaultAction",
        "FaultFields",
        "InstalledAnswer",
        "ReleaseName",
        "When",
    ),
    "policies.behaviour": ("UnknownPolicyError",),
    "policies.own": ("OwnPolicyError",),
    "protocol.releases": ("UnknownReleaseError",),
    "proxy_options": ("MarkedProxyOptions", "MockProxyOptions"),
    "proxying.mock_proxy": ("MockProxy",),
    "pytest_plugin.factory": ("ClusterFactory",),
    "pytest_plugin.marks": ("mark", "mark_matrix", "mark_proxy"),
    "security": ("Security",),
    "server.failures": ("ClusterError", "OutputLostError", "RequestFailedError"),
    "server.fault_control": ("FaultHandle",),
    "server.listening": ("PortInUseError",),
    "server.mock_cluster": ("MockCluster",),
    "server.serving": ("ServedCluster", "serve"),
    "trace.event": ("Event",),
    "trace.files": ("TraceError",),
}
"""The module of each name: the same as above, for imports on demand."""


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
