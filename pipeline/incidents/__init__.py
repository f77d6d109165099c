"""Findings that belong together, as the stories of incidents: what came first, and what followed from it."""

from .evidence import Evidence, summed
from .linking import link
from .model import CONFIDENCE, SCHEMA, Event, Incident
from .ruling_out import rule_out

__all__ = ("CONFIDENCE", "SCHEMA", "Event", "Evidence", "Incident", "link", "rule_out", "summed")
