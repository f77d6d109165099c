"""What goes wrong between a request and its answer, by rules: error codes, delays, cuts, moves."""

from .fault import Fault, Faults, parse
from .match import FaultError, Match

__all__ = ["Fault", "FaultError", "Faults", "Match", "parse"]
