"""UnregisterController: api key 94, v0."""

from dataclasses import dataclass

from .common import TopCode


@dataclass(slots=True)
class UnregisterControllerRequest:
    controller_id: int = 0


@dataclass(slots=True)
class UnregisterControllerResponse(TopCode):
    error_message: str | None = None
