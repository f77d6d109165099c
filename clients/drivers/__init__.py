"""Clients under test, as programs that are told what to do: docs/drivers.md."""

from .driver import Driver, Pending, open_driver
from .left_out import LeftOut
from .lines import Answer, DriverFailedError, OverdueError, Refusal
from .shipped import SHIPPED, Shipped, command_for

__all__ = (
    "SHIPPED",
    "Answer",
    "Driver",
    "DriverFailedError",
    "LeftOut",
    "OverdueError",
    "Pending",
    "Refusal",
    "Shipped",
    "command_for",
    "open_driver",
)
