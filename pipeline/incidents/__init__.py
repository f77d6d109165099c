"""Findings that belong together, as the stories of incidents: what came first, and what followed from it."""

from .linking import link
from .model import CONFIDENCE, SCHEMA, Event, Incident
from .ruling_out import counter, rule_out

__all__ = ("CONFIDENCE", "SCHEMA", "Event", "Incident", "counter", "link", "rule_out")
