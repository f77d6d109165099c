"""Reads what clusters and clients left behind into the one table (`observations.py`), without Spark."""

from ..errors import PipelineError
from .files import Reading, walk
from .registry import Reader, Survey, read, readers, recognise, survey

__all__ = ["PipelineError", "Reader", "Reading", "Survey", "read", "readers", "recognise", "survey", "walk"]
