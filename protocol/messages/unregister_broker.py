"""UnregisterBroker: api key 64, v0."""

from dataclasses import dataclass


@dataclass(slots=True)
class UnregisterBrokerRequest:
    broker_id: int = 0


@dataclass(slots=True)
class UnregisterBrokerResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
