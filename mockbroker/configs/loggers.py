"""The loggers of a broker and their levels (KIP-412), which are shown and set, but have no effect."""

from collections.abc import Iterable
from typing import Final

from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..protocol.releases import Release, parse
from .altering import Change, Operation

ROOT: Final = "root"
DEFAULT_LEVEL: Final = "INFO"
_LEVELS: Final = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
NAMES: Final = (
    ROOT,
    "kafka.cluster.Partition",
    "kafka.log.LogCleaner",
    "kafka.network.Processor",
    "kafka.network.RequestChannel$",
    "kafka.network.SocketServer",
    "kafka.request.logger",
    "kafka.server.BrokerServer",
    "kafka.server.ConfigAdminManager",
    "kafka.server.ControllerApis",
    "kafka.server.ControllerServer",
    "kafka.server.KafkaApis",
    "kafka.server.KafkaRequestHandler",
    "kafka.server.ReplicaFetcherManager",
    "kafka.server.ReplicaManager",
    "org.apache.kafka.clients.NetworkClient",
    "org.apache.kafka.common.metrics.Metrics",
    "org.apache.kafka.common.network.Selector",
    "org.apache.kafka.controller.QuorumController",
    "org.apache.kafka.controller.ReplicationControlManager",
    "org.apache.kafka.raft.KafkaRaftClient",
    "org.apache.kafka.server.util.KafkaScheduler",
    "org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache",
    "org.apache.kafka.storage.internals.log.LogSegment",
    "org.apache.kafka.storage.internals.log.ProducerStateManager",
    "state.change.logger",
)
"""Some of the loggers that brokers of 3.9 and 4.4 have."""
_NAMES_OPERATIONS_SINCE: Final = parse("4.0")


def level(levels: dict[str, str], name: str) -> str:
    """The effective level of a logger: its own, else the root's."""
    return levels.get(name) or levels.get(ROOT) or DEFAULT_LEVEL


def alter(levels: dict[str, str], changes: Iterable[Change], release: Release) -> dict[str, str]:
    """The levels after the changes. ApiError INVALID_REQUEST or INVALID_CONFIG (`RuntimeLoggerManager`), up
    to 3.9 UNKNOWN_SERVER_ERROR for an operation that does not exist (`ConfigAdminManager`)."""
    levels = dict(levels)
    for name, operation, value in changes:
        if operation == Operation.SET:
            _check_name(name)
            if value not in _LEVELS:
                raise ApiError(
                    ErrorCode.INVALID_CONFIG,
                    f"Cannot set the log level of {name} to {value} as it is not a supported log level. "
                    f"Valid log levels are {', '.join(_LEVELS)}",
                )
            levels[name] = value
        elif operation == Operation.DELETE:
            _check_name(name)
            if name == ROOT:
                message = "Removing the log level of the root logger is not allowed"
                raise ApiError(ErrorCode.INVALID_REQUEST, message)
            levels.pop(name, None)
        elif operation in (Operation.APPEND, Operation.SUBTRACT):
            what = Operation(operation).name
            message = f"{what} operation is not allowed for the BROKER_LOGGER resource"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        elif release < _NAMES_OPERATIONS_SINCE:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            message = f"Unknown operation type {operation} is not allowed for the BROKER_LOGGER resource"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
    return levels


def _check_name(name: str) -> None:
    if name not in NAMES:
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
