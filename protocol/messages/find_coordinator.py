"""FindCoordinator: api key 10, v0 to v6."""

from dataclasses import dataclass, field

from .places import places


@dataclass(slots=True)
class FindCoordinatorRequest:
    key_type: int = 0  # v1+
    coordinator_keys: list[str] = field(default_factory=list)  # v4+
    key: str = ""  # v0-3


@dataclass(slots=True)
class Coordinator:
    key: str = ""  # v4+
    node_id: int = 0  # v4+
    host: str = ""  # v4+
    port: int = 0  # v4+
    error_code: int = 0  # v4+
    error_message: str | None = None  # v4+


@dataclass(slots=True)
class FindCoordinatorResponse:
    throttle_time_ms: int = 0  # v1+
    coordinators: list[Coordinator] = places("coordinator", since=4)  # v4+
    error_code: int = 0  # v0-3
    node_id: int = 0  # v0-3
    host: str = ""  # v0-3
    port: int = 0  # v0-3
    error_message: str | None = None  # v1-3


def upgrade(request: FindCoordinatorRequest, version: int) -> FindCoordinatorRequest:
    """Up to v3, the only key becomes a list of one (KIP-699)."""
    if version < 4:
        request.coordinator_keys = [request.key]
    return request


def downgrade(response: FindCoordinatorResponse, version: int) -> FindCoordinatorResponse:
    """Up to v3, the only coordinator is at the top."""
    if version < 4:
        (only,) = response.coordinators
        response.error_code, response.error_message = only.error_code, only.error_message
        response.node_id, response.host, response.port = only.node_id, only.host, only.port
    return response
