"""What goes wrong between a request and its answer, by rules: error codes, delays, cuts, moves."""

from .callback import CallbackError
from .client_request import ClientRequest
from .fault import Fault, Faults, parse
from .match import FaultError, Match

__all__ = ["CallbackError", "ClientRequest", "Fault", "FaultError", "Faults", "Match", "parse"]
