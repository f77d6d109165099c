"""UnregisterBroker: api key 64, v0."""

from dataclasses import dataclass

from .common import TopCode


@dataclass(slots=True)
class UnregisterBrokerRequest:
    broker_id: int = 0


@dataclass(slots=True)
class UnregisterBrokerResponse(TopCode):
    error_message: str | None = ""
