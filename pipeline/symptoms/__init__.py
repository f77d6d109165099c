"""What users and operators would notice, by general rules, from ledgers alone; and what explains it."""

from .explaining import explain, look
from .kinds import KINDS
from .model import Symptom
from .noticing import symptoms
from .reading import noticed
from .telling import HEADING, looked_for, place, unexplained, victims

__all__ = (
    "HEADING",
    "KINDS",
    "Symptom",
    "explain",
    "look",
    "looked_for",
    "noticed",
    "place",
    "symptoms",
    "unexplained",
    "victims",
)
