"""Draws sequences: `sequence(seed, number, versions)`. One module for each family of APIs."""

from .drawing import sequence

__all__ = ["sequence"]
