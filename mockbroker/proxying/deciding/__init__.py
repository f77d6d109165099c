"""Behaviours that are decided in a proxy: what a client is answered, by what the cluster answers."""

from .decider import DECISIONS, Decider
from .steps import Question, Steps

__all__ = ["DECISIONS", "Decider", "Question", "Steps"]
